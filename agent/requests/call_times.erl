%% The request `counters`: calls and own time of every function, counted by the node itself.
%%
%% Cheaper than events, but without stacks, so without accumulated time and waiting time. Calls are those of one
%% process or a few. A function's own time lasts from entering it to entering the next.
-module(call_times).
-export([counters/1]).

counters(#{args := Args} = To) ->
    known_crashes:pass_gate(call_times),
    Budget = budgets:budget(To, #{duration_ms => 3000, max_bytes => 50331648, max_node_memory_bytes => 50331648}),
    {Candidates, Pids} = process_selection:busiest_of(process_selection:chosen(map_get(who, Args))),
    Mailbox = process_selection:longest_mailbox(Pids),
    Tracing = tracing:open_tracing(To),
    Wide = {'_', '_', '_'},
    tracing:refuse_patterned(Tracing, Wide),
    {Functions, Called, Armed} = called_functions(Wide, Tracing),
    Started = erlang:monotonic_time(nanosecond),
    [tracing:flag(Pid, true, [call, arity], Armed) || Pid <- Pids],
    tracing:still_alone(Armed),
    budgets:start_clocks(Budget),
    Stop = counters_wait(Budget),
    [tracing:quieten(Pid, Armed) || Pid <- Pids],
    Took = erlang:monotonic_time(nanosecond) - Started,
    Rows = [{MFA, Calls, Us} || MFA <- Functions, {Calls, Us} <- [call_time(MFA, Armed)], Calls > 0],
    tracing:close_tracing(Armed),
    request:send_rows(To, functions, Rows),
    #{stopped_by => Stop, processes => length(Pids), candidates => Candidates, mailbox => Mailbox, elapsed_ns => Took, functions => length(Rows),
        timed => length(Functions), called => Called}.

%% Counts times of functions that any process calls within half a second, the most called first. There are at most
%% 2,000, because all functions would take more than a hundred megabytes of the node. Setting them takes a second at
%% most: a busy node needs milliseconds to set each, and again to read it.
called_functions(Wide, Tracing) ->
    Counting = tracing:set_pattern(Wide, true, [call_count], Tracing),
    tracing:leave_out_own(call_count, Counting),
    timer:sleep(500),
    Counted = [{Calls, MFA} || MFA <- tracing:functions_of(Wide), Calls <- [tracing:counted(MFA, Counting)], Calls > 0],
    tracing:drop_pattern(Wide, [call_count], Counting),
    %% One entry for the keeper, so that it removes the times of all functions.
    Timing = tracing:set_pattern(Wide, false, [call_time], Counting),
    Most = [MFA || {_, MFA} <- lists:sublist(lists:reverse(lists:sort(Counted)), 2000)],
    {time_each(Most, erlang:monotonic_time(millisecond) + 1000, Timing), length(Counted), Timing}.

time_each([MFA | Rest], Deadline, Timing) ->
    tracing:change_pattern(MFA, true, [call_time], Timing),
    case erlang:monotonic_time(millisecond) < Deadline of
        true -> [MFA | time_each(Rest, Deadline, Timing)];
        false -> [MFA]
    end;
time_each([], _, _) -> [].

counters_wait(Budget) ->
    receive
        time_is_up -> duration;
        cancel -> cancelled;
        {credit, N} -> request:add_credit(N), counters_wait(Budget);
        look_at_memory ->
            case budgets:over_memory(Budget) of
                none -> counters_wait(Budget);
                Stop -> Stop
            end;
        _ -> counters_wait(Budget)
    end.

call_time(MFA, Tracing) ->
    case catch tracing:pattern_info(MFA, call_time, Tracing) of
        {call_time, [_ | _] = Rows} ->
            {lists:sum([Calls || {_, Calls, _, _} <- Rows]), lists:sum([S * 1000000 + Us || {_, _, S, Us} <- Rows])};
        _ -> {0, 0}
    end.
