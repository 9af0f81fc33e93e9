%% Finds the heaviest users of a resource (processes, queues, connections or channels), and the use of the schedulers.
%%
%% A small agent (see README.md). It takes two snapshots and compares them on the node. A table of the request's
%% process keeps the first, with one small row for each candidate. Of the second only the top rows are kept. The end
%% of the request frees everything.
-module(rabbitscope_top).
-export([start/3, cleanup/1]).

%% ---- The agent ----

start(Controller, Keeper, Options) ->
    Words = maps:get(max_heap_bytes, Options) div erlang:system_info(wordsize),
    spawn_opt(fun () ->
        process_flag(trap_exit, true),
        agent(Controller, Keeper, Words, none)
    end, [{message_queue_data, off_heap}]).

%% One request at a time: {Worker, Ref, Armed}.
agent(Controller, Keeper, Words, Now) ->
    receive
        {request, Ref, top, Args} when Now =:= none ->
            Armed = arm(Keeper),
            Limit = #{size => Words, kill => true, error_logger => false},
            Own = [self(), Keeper],
            Worker = spawn_opt(fun () -> Controller ! {rabbitscope, Ref, {done, top(Args#{own => Own, words => Words})}} end,
                [link, {max_heap_size, Limit}]),
            agent(Controller, Keeper, Words, {Worker, Ref, Armed});
        {'EXIT', From, Reason} when From =:= element(1, Now) ->
            {_, Ref, Armed} = Now,
            cleanup([Armed]),
            Keeper ! {armed, []},
            Reason =:= normal orelse (Controller ! {rabbitscope, Ref, {error, died, why(Reason)}}),
            agent(Controller, Keeper, Words, none);
        {cancel, Ref} when Ref =:= element(2, Now) ->
            exit(element(1, Now), kill),
            agent(Controller, Keeper, Words, Now);
        {'EXIT', From, Reason} when From =:= Keeper; Reason =:= shutdown ->
            Now =:= none orelse cleanup([element(3, Now)]);
        _ -> agent(Controller, Keeper, Words, Now)
    end.

%% Microstate accounting is one switch of the node. If it was already on, it stays on.
arm(Keeper) ->
    Keeper ! {armed, [microstates]},
    case erlang:system_flag(microstate_accounting, true) of
        false -> microstates;
        true -> Keeper ! {armed, []}, none
    end.

cleanup(Armed) ->
    lists:member(microstates, Armed) andalso erlang:system_flag(microstate_accounting, false).

why(killed) -> <<"the two snapshots exceeded their memory limit on the node">>;
why({Reason, [{M, F, _, _} | _]}) -> unicode:characters_to_binary(io_lib:format("~tp in ~tp:~tp", [Reason, M, F]));
why(_) -> <<"the snapshots failed on the node">>.

%% Kinds: processes, queues, connections, channels. Sort: cpu, memory, mailbox, binaries, in, out, ready, unacked.
top(#{what := What, interval_ms := IntervalMs, own := Own, words := Words} = Args) ->
    %% The VM counts while any process has this flag set; ours ends with this process.
    erlang:system_flag(scheduler_wall_time, true),
    Before = ets:new(before, [set, public]),
    Schedulers = erlang:statistics(scheduler_wall_time),
    Microstates = erlang:statistics(microstate_accounting),
    Churn = top_rows:churn(),
    Start = erlang:monotonic_time(microsecond),
    {Count, Silent, Late} = top_snapshots:remembered(What, Before, #{}, Words),
    timer:sleep(IntervalMs),
    ElapsedUs = erlang:monotonic_time(microsecond) - Start,
    {{Best, Longest, Tables}, Held, LateAgain} = top_snapshots:best_rows(Args, Before, Silent, Words, [self() | Own]),
    Statistics = top_rates:environment(collect_statistics_interval, 5000),
    Rates = top_rates:rates(What, IntervalMs, Statistics),
    #{rows => top_rows:described(What, Best, Tables, Rates),
      candidates => Count,
      elapsed_us => ElapsedUs,
      statistics_ms => Statistics,
      rates => Rates,
      churn => top_rows:churned(Churn, top_rows:churn()),
      limits => limits:counts(),
      longest => top_rows:longest(Longest),
      silent => [{Pid, top_rows:registered_name(Pid)} || Pid <- maps:keys(Held)],
      late => top_rows:late(Late, LateAgain),
      own => case What of processes -> 1 + length(Own); _ -> 0 end,
      schedulers => scheduler_use:use_of_schedulers(Schedulers, erlang:statistics(scheduler_wall_time)),
      microstates => scheduler_use:microstates(Microstates, erlang:statistics(microstate_accounting), ElapsedUs),
      online => erlang:system_info(schedulers_online),
      run_queue => erlang:statistics(run_queue),
      memory_bytes => erlang:memory(total)}.
