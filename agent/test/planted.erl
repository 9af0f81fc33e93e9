%% Functions whose times are known, because they say themselves how long they took: they spin by the
%% clock, sleep, allocate, recurse, and ask a server. Loaded by the live tests like the agent.
-module(planted).
-export([work/1, tail/1, recursive/1, ask/2, leaf/1, hot/1, login/2, garbage/1]).
-export([start_server/0, init/1, handle_call/3, handle_cast/2]).

%% Calls in a process of its own, and the microseconds that they spent spinning and sleeping.
work(Times) ->
    in_process(fun() -> [work_once() || _ <- lists:seq(1, Times)] end).

work_once() ->
    {spin(20) + nested(), nap(30)}.

nested() ->
    Spun = spin(10),
    Spun + deeper(3).

deeper(0) -> spin(4);
deeper(N) -> Spun = deeper(N - 1), Spun.

tail(Times) ->
    in_process(fun() -> [tail_once() || _ <- lists:seq(1, Times)] end).

tail_once() ->
    ends_in_sleep(spin(10)).

ends_in_sleep(Spun) ->
    {Spun, nap(10)}.

recursive(0) -> spin(1);
recursive(N) -> spin(1) + recursive(N - 1).

leaf(X) -> X + 1.

%% Calls without end, as fast as they go, until the process is killed.
hot(Pids) ->
    [spawn(fun() -> hot_loop() end) || _ <- lists:seq(1, Pids)].

hot_loop() -> leaf(1), hot_loop().

login(User, _Secrets) -> nap(1), User.

garbage(N) -> length([lists:seq(1, 50) || _ <- lists:seq(1, N)]).

%% What the caller does, and what the server does for it meanwhile.
ask(Server, Times) ->
    in_process(fun() -> [{ask_once(Server), 0} || _ <- lists:seq(1, Times)] end).

ask_once(Server) ->
    spin(2) + gen_server:call(Server, slow).

start_server() ->
    {ok, Server} = gen_server:start(?MODULE, [], []),
    Server.

init(_) -> {ok, none}.

handle_call(slow, _, State) ->
    Spun = spin(25),
    nap(10),
    {reply, Spun, State}.

handle_cast(_, State) -> {noreply, State}.

in_process(Work) ->
    Self = self(),
    Pid = spawn(fun() -> Self ! {self(), Work()} end),
    receive
        {Pid, Times} -> {lists:sum([Spun || {Spun, _} <- Times]), lists:sum([Slept || {_, Slept} <- Times])}
    end.

nap(Ms) ->
    Before = erlang:monotonic_time(microsecond),
    receive after Ms -> ok end,
    erlang:monotonic_time(microsecond) - Before.

spin(Ms) ->
    Before = erlang:monotonic_time(microsecond),
    spin_until(Before + Ms * 1000),
    erlang:monotonic_time(microsecond) - Before.

%% Few calls: with very many the recording would make pauses.
spin_until(End) ->
    erlang:crc32(<<0:(20000 * 8)>>),
    case erlang:monotonic_time(microsecond) < End of
        true -> spin_until(End);
        false -> ok
    end.
