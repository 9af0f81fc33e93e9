%% The order of a check.
-module(check_course).
-export([course/1]).

%% Time after which the busiest processes are chosen for looks.
choice_ms() -> 1000.

%% Microstate accounting costs all schedulers some time, so it is on for a part of the check.
microstates_ms() -> 4000.

%% The processes of the request have a high priority. On a saturated node they would wait behind all runnable processes at
%% each of their steps, and miss most looks. It costs the node little, because all their work is bounded: a look takes some
%% hundred microseconds in 50 ms, and snapshots pause for 2 ms after each piece.
course(#{duration_ms := Duration, words := Words, keeper := Keeper} = Args) ->
    process_flag(priority, high),
    %% The VM counts while any process has this flag set; ours ends with this process.
    erlang:system_flag(scheduler_wall_time, true),
    Tables = #{base => ets:new(base, [set, public]), looks => ets:new(looks, [set, public])},
    ets:insert(maps:get(looks, Tables), [{{own, self()}}, {{own, Keeper}}]),
    Finish = now_ms() + Duration,
    Vm = check_vm:vm_counters(),
    Microstates = switched_on(Args),
    Counters = check_broker:broker_counters(),
    Looker = flow_looks:started(Args, Tables),
    First = now_ms(),
    {_, Silent, _} = attendance:attended(fun (Skipped, Note) -> check_base:remember(Tables, Skipped, Note) end, #{}, Words),
    Took = now_ms() - First,
    wait_until(First + min(choice_ms(), Duration div 3)),
    {_, Quiet, _} = attendance:attended(fun (Skipped, Note) -> check_processes:choose(Tables, Skipped, Note) end, Silent, Words),
    wait_until(min(First + microstates_ms(), Finish - Took)),
    States = switched_off(Microstates, Args),
    wait_until(Finish - Took),
    flow_looks:looks_ended(Looker, Tables),
    ElapsedMs = max(1, now_ms() - First),
    Ended = #{elapsed_ms => ElapsedMs, vm => check_vm:vm_figures(Vm, ElapsedMs), microstates => States,
        broker => check_broker:broker_figures(Counters)},
    {Rows, Missing, _} = attendance:attended(fun (Skipped, Note) ->
        check_rows:rows(Tables, ElapsedMs, Skipped, Note)
    end, Quiet, Words),
    (maps:merge(Ended, Rows))#{silent => maps:keys(Missing), settings => check_settings:settings(),
        facts => check_broker:broker_facts()}.

now_ms() -> erlang:monotonic_time(millisecond).

%% Waits, but not after a cancelled request: what was read until then is the answer. The message stays for later waits.
wait_until(Time) ->
    receive cancel -> self() ! cancel
    after max(0, Time - now_ms()) -> ok
    end.

%% ---- Microstates ----

%% If the accounting was already on, it stays on.
switched_on(#{keeper := Keeper}) ->
    Keeper ! {armed, [microstates]},
    Was = try erlang:system_flag(microstate_accounting, true) catch error:badarg -> unavailable end,
    Was =:= false orelse (Keeper ! {armed, []}),
    {Was, erlang:statistics(microstate_accounting), erlang:monotonic_time(microsecond)}.

switched_off({false, Before, Since}, #{keeper := Keeper}) ->
    ElapsedUs = erlang:monotonic_time(microsecond) - Since,
    Sums = scheduler_use:microstates(Before, erlang:statistics(microstate_accounting), ElapsedUs),
    erlang:system_flag(microstate_accounting, false),
    Keeper ! {armed, []},
    Sums;
switched_off(_, _) -> in_part.
