%% Reads the figures of the whole node that are exported as metrics.
%%
%% A module of functions, not an agent. The answer is one map of bounded size. It lacks figures that this release does
%% not have, or that were not answered in time. No queue, channel or connection is asked. Sources are counters, tables,
%% and two processes that answer such questions at any time. Some tables are never written if the broker keeps no
%% statistics: their figures are missing, too.
-module(rabbitscope_figures).
-export([figures/2]).

-spec figures(MaxQueues :: non_neg_integer(), WithQueues :: boolean()) -> map().
figures(MaxQueues, WithQueues) ->
    Began = erlang:monotonic_time(microsecond),
    Statistics = application:get_env(rabbit, collect_statistics, none),
    IsWritten = Statistics =/= none,
    Parts = [
        {statistics, fun () -> Statistics end},
        {counters, fun counters/0},
        {queues, fun () -> queues(MaxQueues, WithQueues andalso IsWritten) end},
        {connections, fun () -> size_of(connection_created) end},
        {channels, fun () -> size_of(channel_created) end},
        {consumers, fun () -> size_of(consumer_created) end},
        {flow, fun () -> in_flow(IsWritten) end},
        {memory, fun erlang:memory/0},
        {memory_limit, fun () -> number(gen_server:call(vm_memory_monitor, get_memory_limit, 500)) end},
        {disk_free, fun () -> number(apply(rabbit_disk_monitor, get_disk_free, [])) end},
        {alarms, fun alarms/0},
        {processes, fun () -> erlang:system_info(process_count) end},
        {run_queue, fun () -> erlang:statistics(total_run_queue_lengths_all) end}
    ],
    Known = [{Name, Value} || {Name, Read} <- Parts, {ok, Value} <- [attempt(Read)]],
    (maps:from_list(Known))#{took_us => erlang:monotonic_time(microsecond) - Began}.

attempt(Read) ->
    try Read() of
        unknown -> unknown;
        Value -> {ok, Value}
    catch _:_ -> unknown
    end.

number(Number) when is_integer(Number) -> Number;
number(Number) when is_float(Number) -> trunc(Number);
number(_) -> unknown.

size_of(Table) ->
    case ets:info(Table, size) of
        undefined -> unknown;
        Size -> Size
    end.

%% Counted since the node started, over all protocols and types of queues.
counters() ->
    All = maps:values(apply(rabbit_global_counters, overview, [])),
    Sum = fun (Names) -> lists:sum([maps:get(Name, Some, 0) || Some <- All, Name <- Names]) end,
    #{
        published => Sum([messages_received_total]),
        confirmed => Sum([messages_confirmed_total]),
        delivered => Sum([messages_delivered_total]),
        acknowledged => Sum([messages_acknowledged_total]),
        redelivered => Sum([messages_redelivered_total]),
        unroutable => Sum([messages_unroutable_dropped_total, messages_unroutable_returned_total])
    }.

%% Sums over the queues of this node, and the longest.
queues(_, false) -> unknown;
queues(Max, true) ->
    Row = [{{{resource, '$1', queue, '$2'}, '$3', '$4', '_', '_'}, [], [{{'$1', '$2', '$3', '$4'}}]}],
    {Count, Ready, Unacknowledged, Longest} = queue_table:in_pieces(queue_coarse_metrics, Row,
        fun (Found, Acc) -> lists:foldl(fun (Queue, Sums) -> add_queue(Queue, Max, Sums) end, Acc, Found) end,
        {0, 0, 0, gb_sets:new()}),
    #{
        count => Count, ready => Ready, unacknowledged => Unacknowledged,
        longest => [{VHost, Name, Depth} || {Depth, VHost, Name} <- gb_sets:to_list(Longest)]
    }.

add_queue({VHost, Name, Ready, Unacknowledged}, Max, {Count, SumReady, SumUnacknowledged, Longest})
        when is_integer(Ready), is_integer(Unacknowledged) ->
    {Count + 1, SumReady + Ready, SumUnacknowledged + Unacknowledged,
        add_longest({Ready + Unacknowledged, VHost, Name}, Max, Longest)};
%% A queue that has not written yet.
add_queue(_, _, {Count, Ready, Unacknowledged, Longest}) -> {Count + 1, Ready, Unacknowledged, Longest}.

add_longest({0, _, _}, _, Longest) -> Longest;
add_longest(Queue, Max, Longest) ->
    case gb_sets:size(Longest) < Max of
        true -> gb_sets:add_element(Queue, Longest);
        false when Max =:= 0 -> Longest;
        false ->
            {Shortest, Others} = gb_sets:take_smallest(Longest),
            case Queue > Shortest of
                true -> gb_sets:add_element(Queue, Others);
                false -> Longest
            end
    end.

%% Connections that are slowed down or blocked, by their latest rows. Rows are lists of many items. The table counts
%% them by the position of the state in the list, so that none is copied. The first rows give the positions.
in_flow(false) -> unknown;
in_flow(true) ->
    case ets:select(connection_metrics, [{{'_', '$1'}, [], ['$1']}], 20) of
        '$end_of_table' -> 0;
        {Some, _} ->
            Places = lists:usort([Place || Infos <- Some, Place <- place_of_state(Infos, 0)]),
            Heads = [{{'_', lists:duplicate(Place, '_') ++ [{state, State} | '_']}, [], [true]}
                || Place <- Places, State <- [flow, blocked, blocking]],
            case Heads of
                [] -> unknown;
                _ -> ets:select_count(connection_metrics, Heads)
            end
    end.

place_of_state([{state, _} | _], Place) -> [Place];
place_of_state([_ | Others], Place) -> place_of_state(Others, Place + 1);
place_of_state([], _) -> [].

alarms() ->
    Raised = gen_event:call(rabbit_alarm, rabbit_alarm, get_alarms, 500),
    [What || {{resource_limit, What, Node}, _} <- Raised, Node =:= node()].
