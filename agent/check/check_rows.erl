%% The second snapshot: growth since the first, and the rows of the answer.
-module(check_rows).
-export([rows/4]).

rows(Tables, ElapsedMs, Skipped, Note) ->
    Sums = ets:new(sums, [set, private]),
    All = Tables#{sums => Sums},
    Statistics = top_rates:environment(collect_statistics, none),
    IsWritten = Statistics =/= none andalso ElapsedMs >= top_rates:environment(collect_statistics_interval, 5000),
    IsCounted = IsWritten andalso Statistics =:= fine andalso check_base:are_few_rows(),
    check_parts:attempted(fun () -> check_sums:consumers(Sums) end),
    IsSummed = IsCounted andalso check_parts:attempted(fun () -> check_sums:messages(All) end) =/= unknown,
    Leaders = check_parts:attempted(fun () -> check_queues:remember_queues(Sums) end),
    Flow = check_parts:attempted(fun () -> flow_rows:flow_answer(All, Skipped) end),
    {FlowPids, FlowQueues} = flow_rows:involved(Flow, Sums),
    Context = All#{is_written => IsWritten, is_counted => IsSummed,
        are_queues_counted => IsSummed andalso check_parts:attempted(fun () -> top_rates:rates(queues, ElapsedMs, 0) end) =:= known},
    (check_parts:known_parts([
        {queues, fun () -> check_queues:queue_figures(Context, FlowPids, FlowQueues) end},
        {connections, fun () -> check_clients:connection_figures(Context, FlowPids) end},
        {channels, fun () -> check_clients:channel_rows(Context, FlowPids) end},
        {processes, fun () -> check_processes:process_figures(All, FlowPids, Skipped, Note) end}
    ]))#{flow => Flow, leaders => Leaders}.
