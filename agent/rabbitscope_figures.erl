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
        {counters, fun message_counters:counters/0},
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

%% Connections that are slowed down or blocked, by their latest rows. The first rows give the forms of all.
in_flow(false) -> unknown;
in_flow(true) ->
    Slow = {'orelse', {'=:=', '$2', flow}, {'=:=', '$2', blocked}, {'=:=', '$2', blocking}},
    case list_patterns:value_patterns(connection_metrics, [state]) of
        [] -> case ets:info(connection_metrics, size) of 0 -> 0; _ -> unknown end;
        Patterns -> ets:select_count(connection_metrics, [{{'_', Pattern}, [Slow], [true]} || Pattern <- Patterns])
    end.

alarms() ->
    Raised = gen_event:call(rabbit_alarm, rabbit_alarm, get_alarms, 500),
    [What || {{resource_limit, What, Node}, _} <- Raised, Node =:= node()].
