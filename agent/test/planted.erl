%% Functions with known times, because they measure themselves: they spin by the clock, sleep, allocate,
%% recurse, and ask a server. The live tests load them like the agent.
-module(planted).
-export([leaves/1, work/1, tail/1, recursive/1, ask/2, ask_late/1, leaf/1, hot/1, heavy/1, enroll/2, pressure/1, collect/1, nest/1, nested_once/0]).
-export([brief/2, brief_once/0, brief_failing/0, crowd/1]).
-export([start_server/0, init/1, handle_call/3, handle_cast/2]).

%% Calls in a separate process, and the microseconds that they spent spinning and sleeping.
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

%% Calls without end, as fast as possible, until the process is killed.
hot(Pids) ->
    [spawn(fun() -> hot_loop() end) || _ <- lists:seq(1, Pids)].

hot_loop() -> leaf(1), hot_loop().

%% The same with arguments and results that are large to copy.
heavy(Pids) ->
    [spawn(fun() -> heavy_loop(lists:seq(1, 10000)) end) || _ <- lists:seq(1, Pids)].

heavy_loop(Load) -> carry(Load), heavy_loop(Load).

carry(Load) -> tl(Load).

enroll(User, _Secrets) -> nap(1), User.

%% Makes garbage, which the node collects when it finds it necessary.
pressure(Times) ->
    in_process(fun() -> [{pressure_once(), 0} || _ <- lists:seq(1, Times)] end).

pressure_once() ->
    Before = erlang:monotonic_time(microsecond),
    litter(200, term_to_binary(erlang:make_tuple(40000, []))),
    erlang:monotonic_time(microsecond) - Before.

%% Few calls, much garbage.
litter(0, _) -> ok;
litter(N, Packed) -> 40000 = tuple_size(binary_to_term(Packed)), litter(N - 1, Packed).

%% Collections of known times, and running in between.
collect(Times) ->
    in_process(fun() ->
        Live = lists:seq(1, 300000),
        Spent = [collect_once() || _ <- lists:seq(1, Times)],
        300000 = length(Live),
        Spent
    end).

collect_once() ->
    Spun = spin(5),
    Before = erlang:monotonic_time(microsecond),
    erlang:garbage_collect(),
    {Spun, erlang:monotonic_time(microsecond) - Before}.

%% A few long calls of each function.
nest(Times) ->
    in_process(fun() -> [nested_once() || _ <- lists:seq(1, Times)] end).

nested_once() -> {nested(), nap(30)}.

%% The work of the caller, and of the server for it meanwhile.
ask(Server, Times) ->
    in_process(fun() -> [ask_once(Server) || _ <- lists:seq(1, Times)] end).

ask_once(Server) ->
    Spun = spin(2),
    {There, Slept} = gen_server:call(Server, slow),
    {Spun + There, Slept}.

%% Enough calls to force a pause of the recording, and meanwhile a question to the server.
ask_late(Server) ->
    in_process(fun() -> [ask_late_once(Server)] end).

ask_late_once(Server) ->
    Before = erlang:monotonic_time(microsecond),
    leaves(200000),
    Slept = gen_server:call(Server, late),
    {erlang:monotonic_time(microsecond) - Before, Slept}.

leaves(0) -> ok;
leaves(N) -> leaf(N), leaves(N - 1).

%% Calls of some microseconds in processes that end just after the call, or in it, or that continue after a failure
%% three times. Returns the microseconds from before the call to the end of each process, by its own clock.
brief(Kind, Times) ->
    {lists:sum([brief_process(Kind) || _ <- lists:seq(1, Times)]), 0}.

brief_process(Kind) ->
    Before = erlang:monotonic_time(microsecond),
    {_, Monitor} = spawn_monitor(fun() -> brief_calls(Kind), exit({ended, erlang:monotonic_time(microsecond)}) end),
    End = receive
        {'DOWN', Monitor, _, _, {ended, At}} -> At;
        {'DOWN', Monitor, _, _, _} -> erlang:monotonic_time(microsecond)
    end,
    nap(20),
    End - Before.

brief_calls(ends) -> brief_once();
brief_calls(fails) -> brief_failing();
brief_calls(catches) -> [begin catch brief_failing(), leaf(N) end || N <- [1, 2, 3]].

brief_once() -> leaf(1) + 1.

brief_failing() -> leaf(1), exit(planned).

%% A number of processes in a role. Only the last one works.
crowd(Size) ->
    [spawn(fun() ->
        put('$initial_call', {rabbit_limiter, init, 1}),
        if N =:= Size -> works(); true -> nap(60000) end
    end) || N <- lists:seq(1, Size)].

works() -> leaves(1000), nap(1), works().

start_server() ->
    {ok, Server} = gen_server:start(?MODULE, [], []),
    Server.

init(_) -> {ok, none}.

handle_call(late, _, State) ->
    {reply, nap(1500), State};
handle_call(slow, _, State) ->
    {reply, {spin(25), nap(10)}, State}.

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

%% Few calls, however fast the machine is, because very many would make the recording pause.
%% The compiler must not know the result.
spin_until(End) -> spin_until(End, binary:decode_unsigned(binary:copy(<<255>>, 7500))).

spin_until(End, Large) ->
    true = Large * Large > Large,
    case erlang:monotonic_time(microsecond) < End of
        true -> spin_until(End, Large);
        false -> ok
    end.
