%% Functions whose times are known: they sleep, spin by the clock, allocate, recurse, ask a server.
-module(planted).
-export([work/0, tail/0, leaf/1, recursive/1, ask/1, server/0, loop/2, garbage/1, spin/1, hot/1]).

work() ->
    spin(20),
    nap(30),
    inner(),
    ok.

inner() ->
    spin(10),
    nap(15),
    deepest(3),
    ok.

deepest(0) -> nap(5), spin(4), ok;
deepest(N) -> R = deepest(N - 1), R.

nap(Ms) -> receive after Ms -> ok end.

tail() ->
    spin(5),
    nap(10).

leaf(X) -> X + 1.

hot(0) -> ok;
hot(N) -> leaf(N), hot(N - 1).

recursive(0) -> spin(1), 0;
recursive(N) -> spin(1), 1 + recursive(N - 1).

spin(Ms) -> spin_until(erlang:monotonic_time(microsecond) + Ms * 1000).

spin_until(End) ->
    burn(2000),
    case erlang:monotonic_time(microsecond) < End of
        true -> spin_until(End);
        false -> ok
    end.

%% Time without calls: `rem` in a comprehension would call a fun.
burn(0) -> ok;
burn(N) ->
    _ = (N * 7919) rem 104729, _ = (N * 7907) rem 104723, _ = (N * 7901) rem 104717,
    _ = (N * 7883) rem 104711, _ = (N * 7879) rem 104707, _ = (N * 7877) rem 104701,
    burn(N - 2000).

garbage(N) -> length([lists:seq(1, 500) || _ <- lists:seq(1, N)]).

ask(Server) ->
    spin(2),
    gen_server:call(Server, slow),
    spin(3).

server() ->
    {ok, Pid} = gen_server:start(planted_server, [], []),
    Pid.

loop(Fun, Times) ->
    [begin apply(?MODULE, Fun, []), receive after 2 -> ok end end || _ <- lists:seq(1, Times)],
    ok.
