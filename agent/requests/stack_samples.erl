%% The request `sample`: stacks of running processes, without any tracing.
%%
%% A running process gives its stack when its time slice ends. So samples show places where Erlang may be
%% interrupted, with at most eight frames. Once a second the busiest processes are determined; only those are
%% asked.
-module(stack_samples).
-export([sample/1]).

sample(#{args := Args} = To) ->
    Budget = budgets:budget(To, #{duration_ms => 10000, max_bytes => 50331648, max_node_memory_bytes => 50331648}),
    budgets:start_clocks(Budget),
    Interval = max(1, maps:get(interval_ms, Args, 10)),
    put(samples, #{}),
    self() ! look,
    self() ! next,
    Started = erlang:monotonic_time(nanosecond),
    State = #{to => To, args => Args, budget => Budget, interval => Interval, busy => [], before => #{}, asked => 0, taken => 0, ticks => 0,
        processes => 0, most => maps:get(max_processes, Args, 64)},
    {Stop, End} = sample_loop(State),
    Samples = get(samples),
    %% Without a broker on the node there is no table of queues.
    Queues = try process_selection:quorum_queues() catch error:_ -> #{} end,
    request:send_rows(To, samples, [{Pid, roles:role(Pid), sampled_name(Pid, Queues), Stack, Count} || {{Pid, Stack}, Count} <- maps:to_list(Samples)]),
    #{stopped_by => Stop, elapsed_ns => erlang:monotonic_time(nanosecond) - Started,
        asked => map_get(asked, End), taken => map_get(taken, End), ticks => map_get(ticks, End),
        processes => map_get(processes, End), interval_ms => Interval, distinct => map_size(Samples)}.

sampled_name(Pid, Queues) ->
    Name = roles:process_name(Pid),
    maps:get(Name, Queues, Name).

sample_loop(#{interval := Interval} = S) ->
    receive
        look ->
            erlang:send_after(1000, self(), look),
            sample_loop(busiest(S));
        next ->
            Begun = erlang:monotonic_time(microsecond),
            Sampled = sample_once(S),
            Spent = (erlang:monotonic_time(microsecond) - Begun) div 1000,
            %% Sampling may take at most a fifth of the time.
            erlang:send_after(max(Interval, 4 * Spent), self(), next),
            sample_loop(Sampled);
        time_is_up -> {duration, S};
        cancel -> {cancelled, S};
        look_at_memory ->
            case budgets:over_memory(map_get(budget, S)) of
                none -> sample_loop(S);
                Stop -> {Stop, S}
            end;
        {credit, N} -> request:add_credit(N), sample_loop(S);
        _ -> sample_loop(S)
    end.

%% The processes with most reductions since the last time.
busiest(#{before := Before, args := Args, most := Most} = S) ->
    All = case Args of
        #{who := Who} -> process_selection:chosen(Who);
        _ -> processes()
    end,
    Now = process_selection:reductions_of(All),
    S#{before := Now, busy := [Pid || {Done, Pid} <- lists:sublist(process_selection:worked(Before, Now), Most), Done > 1000], processes := map_size(Now)}.

sample_once(#{busy := Busy} = S) ->
    lists:foldl(fun sample_process/2, S#{ticks := map_get(ticks, S) + 1}, Busy).

sample_process(Pid, #{asked := Asked, taken := Taken} = S) ->
    case process_info(Pid, [status, current_stacktrace]) of
        [{status, Status}, {current_stacktrace, Trace}] when Status =/= waiting, Trace =/= [] ->
            Stack = [{M, F, A} || {M, F, A, _} <- Trace],
            Samples = get(samples),
            Key = {Pid, Stack},
            case Samples of
                #{Key := Count} -> put(samples, Samples#{Key := Count + 1});
                _ when map_size(Samples) < 20000 -> put(samples, Samples#{Key => 1});
                _ -> ok
            end,
            S#{asked := Asked + 1, taken := Taken + 1};
        _ -> S#{asked := Asked + 1}
    end.
