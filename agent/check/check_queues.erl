%% Queues whose leaders are on this node.
-module(check_queues).
-export([remember_queues/1, queue_figures/3]).

%% Keeps {Pid, Queue} for the queues of this node. Returns the number of leaders by node.
remember_queues(Sums) ->
    Head = queue_table:queue_head([{name, '$1'}, {pid, '$2'}]),
    Leaders = check_base:each_paced(queue_table:queue_table(), [{Head, [], [{{'$2', '$1'}}]}], fun ({Process, Queue}, Counts) ->
        case broker_tables:local(Process) of
            none -> ok;
            Pid -> ets:insert(Sums, [{Pid, Queue}, {{here, Queue}, Pid}])
        end,
        %% Flow control names a quorum queue by the registered name of its processes.
        is_tuple(Process) andalso ets:insert(Sums, {{registered, element(1, Process)}, Queue}),
        maps:update_with(leader_node(Process), fun (Count) -> Count + 1 end, 1, Counts)
    end, #{}),
    maps:to_list(maps:remove(none, Leaders)).

leader_node(Pid) when is_pid(Pid) -> node(Pid);
leader_node({_, Node}) when is_atom(Node) -> Node;
leader_node(_) -> none.

queue_figures(#{sums := Sums, is_written := IsWritten, are_queues_counted := AreCounted} = Context, FlowPids, FlowQueues) ->
    {Ready, Unacked, Deep} = check_base:each_paced(queue_coarse_metrics, [{{'$1', '$2', '$3', '_', '_'}, [], [{{'$1', '$2', '$3'}}]}],
        fun add_depth/2, {0, 0, #{}}),
    Bests = case AreCounted of
        true -> check_sums:each_sums(Sums, is_tuple, fun add_rates/3, Deep);
        false -> Deep
    end,
    In = [Queue || Pid <- FlowPids, {_, {resource, _, queue, _} = Queue} <- ets:lookup(Sums, Pid)],
    Count = ets:select_count(Sums, [{{{here, '_'}, '_'}, [], [true]}]),
    %% Queues that write nothing are asked later, unless they are too many.
    Asked = case not IsWritten andalso Count =< 500 of
        true -> ets:select(Sums, [{{{here, '$1'}, '_'}, [], ['$1']}]);
        false -> []
    end,
    Chosen = lists:usort(check_best:chosen(Bests) ++ lists:sublist(lists:usort(In ++ FlowQueues), 20) ++ Asked),
    #{count => Count, ready => Ready, unacknowledged => Unacked, is_written => IsWritten,
        rows => [Row || Queue <- Chosen, Row <- [queue_row(Queue, Context)], is_map(Row)]}.

add_depth({Queue, Ready, Unacked}, {AllReady, AllUnacked, Bests}) when is_integer(Ready), is_integer(Unacked) ->
    {AllReady + Ready, AllUnacked + Unacked,
        check_best:better(unacked, Unacked, Queue, 10, check_best:better(ready, Ready, Queue, 20, Bests))};
%% A queue that has not written yet.
add_depth(_, Sums) -> Sums.

add_rates(Queue, [Published, _, Delivered | _], Bests) ->
    check_best:better(published, Published, Queue, 15, check_best:better(delivered, Delivered, Queue, 15, Bests)).

queue_row({resource, VHost, queue, Name} = Queue, #{base := Base, sums := Sums, are_queues_counted := IsCounted}) ->
    {Ready, Unacked} = case ets:lookup(queue_coarse_metrics, Queue) of
        [Row] -> {element(2, Row), element(3, Row)};
        [] -> {0, 0}
    end,
    Before = case ets:lookup(Base, Queue) of [{_, Was}] when is_integer(Was) -> Was; _ -> 0 end,
    Infos = try ets:lookup_element(queue_metrics, Queue, 2) catch error:badarg -> [] end,
    {Consumers, Permitted} = case ets:lookup(Sums, {consumers, Queue}) of
        [{_, Count, Limit, 0}] -> {Count, Limit};
        [{_, Count, _, _}] -> {Count, unlimited};
        [] -> {0, 0}
    end,
    Pid = case ets:lookup(Sums, {here, Queue}) of [{_, Process}] -> Process; [] -> none end,
    #{vhost => VHost, name => Name, pid => Pid, ready => Ready, ready_before => Before, unacknowledged => Unacked,
        consumers => Consumers, permitted => Permitted, capacity => proplists:get_value(consumer_capacity, Infos, unknown), version => storage_version(Infos),
        sums => check_sums:sums_of(Sums, Queue, IsCounted), record => queue_record(Queue)};
queue_row(_, _) -> none.

%% The version of a classic queue's storage, which has had different places.
storage_version(Infos) ->
    Status = case proplists:get_value(backing_queue_status, Infos) of List when is_list(List) -> List; _ -> [] end,
    Versions = [Version || Key <- [storage_version, version], Version <- [proplists:get_value(Key, Infos ++ Status)], is_integer(Version)],
    case Versions of [Version | _] -> Version; [] -> unknown end.

%% {Type, IsDurable} from the queue's record.
queue_record(Queue) ->
    try
        [Record] = ets:lookup(queue_table:queue_table(), Queue),
        {apply(amqqueue, get_type, [Record]), apply(amqqueue, is_durable, [Record])}
    catch _:_ -> unknown end.
