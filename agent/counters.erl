
%% ---- Counters: calls and own time of every function, counted by the node itself ----
%%
%% Cheaper than events, and without stacks: no accumulated time, no waiting. Calls of one process or
%% a few; their time is that between entering a function and entering the next.

counters(#{args := Args} = To) ->
    pass_gate(call_times),
    Budget = budget(To, #{duration_ms => 3000, max_bytes => 50331648, max_node_memory_bytes => 50331648}),
    {Candidates, Pids} = busiest_of(chosen(map_get(who, Args))),
    Tracing = open_tracing(To),
    Wide = {'_', '_', '_'},
    refuse_patterned(Tracing, Wide),
    {Functions, Called, Armed} = called_functions(Wide, Tracing),
    Started = erlang:monotonic_time(nanosecond),
    [flag(Pid, true, [call, arity], Armed) || Pid <- Pids],
    still_alone(Armed),
    start_clocks(Budget),
    Stop = counters_wait(Budget),
    [quieten(Pid, Armed) || Pid <- Pids],
    Took = erlang:monotonic_time(nanosecond) - Started,
    Rows = [{MFA, Calls, Us} || MFA <- Functions, {Calls, Us} <- [call_time(MFA, Armed)], Calls > 0],
    close_tracing(Armed),
    send_rows(To, functions, Rows),
    #{stopped_by => Stop, processes => length(Pids), candidates => Candidates, elapsed_ns => Took, functions => length(Rows),
        timed => length(Functions), called => Called}.

%% Times are kept for functions that somebody on the node calls within half a second, those called most
%% first: at most 2,000, since all would take more than a hundred megabytes of the node, and as many as
%% a second suffices for, since a busy node needs milliseconds to set each, and again to read it.
called_functions(Wide, Tracing) ->
    Counting = set_pattern(Wide, true, [call_count], Tracing),
    leave_out_own(call_count, Counting),
    timer:sleep(500),
    Counted = [{Calls, MFA} || MFA <- functions_of(Wide), Calls <- [counted(MFA, Counting)], Calls > 0],
    drop_pattern(Wide, [call_count], Counting),
    %% One entry for the keeper: it removes the times of all functions.
    Timing = set_pattern(Wide, false, [call_time], Counting),
    Most = [MFA || {_, MFA} <- lists:sublist(lists:reverse(lists:sort(Counted)), 2000)],
    {time_each(Most, erlang:monotonic_time(millisecond) + 1000, Timing), length(Counted), Timing}.

time_each([MFA | Rest], Deadline, Timing) ->
    change_pattern(MFA, true, [call_time], Timing),
    case erlang:monotonic_time(millisecond) < Deadline of
        true -> [MFA | time_each(Rest, Deadline, Timing)];
        false -> [MFA]
    end;
time_each([], _, _) -> [].

counters_wait(Budget) ->
    receive
        time_is_up -> duration;
        cancel -> cancelled;
        {credit, N} -> add_credit(N), counters_wait(Budget);
        look_at_memory ->
            case over_memory(Budget) of
                none -> counters_wait(Budget);
                Stop -> Stop
            end;
        _ -> counters_wait(Budget)
    end.

call_time(MFA, Tracing) ->
    case catch pattern_info(MFA, call_time, Tracing) of
        {call_time, [_ | _] = Rows} ->
            {lists:sum([Calls || {_, Calls, _, _} <- Rows]), lists:sum([S * 1000000 + Us || {_, _, S, Us} <- Rows])};
        _ -> {0, 0}
    end.

%% ---- Sample: stacks of running processes, without any tracing ----
%%
%% A process that runs is asked for its stack and answers when its time slice ends: what is seen are
%% places where Erlang may be interrupted, at most eight frames of them. Once a second it is looked
%% up who works at all; only the busiest are asked.

sample(#{args := Args} = To) ->
    Budget = budget(To, #{duration_ms => 10000, max_bytes => 50331648, max_node_memory_bytes => 50331648}),
    start_clocks(Budget),
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
    Queues = try quorum_queues() catch error:_ -> #{} end,
    send_rows(To, samples, [{Pid, role(Pid), sampled_name(Pid, Queues), Stack, Count} || {{Pid, Stack}, Count} <- maps:to_list(Samples)]),
    #{stopped_by => Stop, elapsed_ns => erlang:monotonic_time(nanosecond) - Started,
        asked => map_get(asked, End), taken => map_get(taken, End), ticks => map_get(ticks, End),
        processes => map_get(processes, End), interval_ms => Interval, distinct => map_size(Samples)}.

sampled_name(Pid, Queues) ->
    Name = process_name(Pid),
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
            %% Asking may take at most a fifth of the time.
            erlang:send_after(max(Interval, 4 * Spent), self(), next),
            sample_loop(Sampled);
        time_is_up -> {duration, S};
        cancel -> {cancelled, S};
        look_at_memory ->
            case over_memory(map_get(budget, S)) of
                none -> sample_loop(S);
                Stop -> {Stop, S}
            end;
        {credit, N} -> add_credit(N), sample_loop(S);
        _ -> sample_loop(S)
    end.

%% The processes that have worked most since the last look.
busiest(#{before := Before, args := Args, most := Most} = S) ->
    All = case Args of
        #{who := Who} -> chosen(Who);
        _ -> processes()
    end,
    Now = reductions_of(All),
    S#{before := Now, busy := [Pid || {Done, Pid} <- lists:sublist(worked(Before, Now), Most), Done > 1000], processes := map_size(Now)}.

reductions_of(Pids) ->
    maps:from_list([{Pid, R} || Pid <- Pids, Pid =/= self(), {reductions, R} <- [process_info(Pid, reductions)]]).

%% `{Reductions, Pid}` of those that are there now, the one that has worked most first.
worked(Before, Now) ->
    lists:reverse(lists:sort([{R - maps:get(Pid, Before, 0), Pid} || {Pid, R} <- maps:to_list(Now)])).

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
