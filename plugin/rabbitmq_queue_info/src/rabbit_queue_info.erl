%% Figures of the queues, from tables that the node keeps anyway. No queue process is asked. So figures are as old
%% as `collect_statistics_interval` at most, and a stuck queue delays no answer.
%%
%% Depths are cheap to read. The number of consumers is not: it is in a long list for each queue. So a table here
%% keeps it, with the reductions that the queue wrote with it. A classic queue writes its list just before its
%% depth, and its reductions differ each time: equal reductions mean an equal number. Queues of other types write in
%% another order, or write no reductions; their lists are read each time.
-module(rabbit_queue_info).
-export([new_table/0, list/1]).

-define(KNOWN, rabbit_queue_info_consumers).

%% Creates the table. It lives as long as the calling process.
new_table() ->
    ?KNOWN = ets:new(?KNOWN, [named_table, public, set, {read_concurrency, true}]).

%% Queues of a virtual host, or of all (`all`): {Name, VHost, Type, Ready, Unacknowledged, Consumers}. A
%% figure is `null` until its queue has reported it.
list(VHost) ->
    Queues = case VHost of
        all -> lists:append([rabbit_amqqueue:list(Each) || Each <- rabbit_vhost:list_names()]);
        _ -> rabbit_amqqueue:list(VHost)
    end,
    VHost =:= all andalso forget_deleted(length(Queues)),
    Elsewhere = [Node || Node <- nodes_of(Queues), Node =/= node()],
    Remote = maps:from_list([{Node, remote_depths(Node)} || Node <- Elsewhere]),
    [row(Queue, Remote) || Queue <- Queues].

%% Empties the table once deleted queues fill it. Searching for them one by one would cost more.
forget_deleted(Queues) ->
    ets:info(?KNOWN, size) > 2 * Queues + 1000 andalso ets:delete_all_objects(?KNOWN).

row(Queue, Remote) ->
    {resource, VHost, queue, Name} = Id = amqqueue:get_name(Queue),
    Type = amqqueue:get_type(Queue),
    {Ready, Unacknowledged, Reductions} = depth(Id, home(Queue), Remote),
    {Name, VHost, type(Type), Ready, Unacknowledged, consumers(Type, Id, Reductions)}.

type(rabbit_classic_queue) -> <<"classic">>;
type(rabbit_quorum_queue) -> <<"quorum">>;
type(rabbit_stream_queue) -> <<"stream">>;
type(Module) -> atom_to_binary(Module, utf8).

depth(Id, Node, Remote) when is_map_key(Node, Remote) ->
    maps:get(Id, map_get(Node, Remote), {null, null, unknown});
depth(Id, _, _) ->
    try ets:lookup(queue_coarse_metrics, Id) of
        [{_, Ready, Unacknowledged, _, Reductions}] -> {Ready, Unacknowledged, Reductions};
        _ -> {null, null, unknown}
    catch error:badarg -> {null, null, unknown}
    end.

%% The node of a queue counts its consumers.
consumers(rabbit_classic_queue, Id, Reductions) when is_integer(Reductions) ->
    case ets:lookup(?KNOWN, Id) of
        [{_, Reductions, Count}] -> Count;
        _ ->
            Count = written_consumers(Id),
            ets:insert(?KNOWN, {Id, Reductions, Count}),
            Count
    end;
consumers(_, Id, _) -> written_consumers(Id).

written_consumers(Id) ->
    try lists:keyfind(consumers, 1, ets:lookup_element(queue_metrics, Id, 2)) of
        {_, Count} when is_integer(Count) -> Count;
        _ -> null
    catch error:badarg -> null
    end.

%% Another node may be slow or gone: after a second its queues have no figures.
remote_depths(Node) ->
    try erpc:call(Node, ets, tab2list, [queue_coarse_metrics], 1000) of
        Rows -> maps:from_list([{element(1, Row), {element(2, Row), element(3, Row), unknown}} || Row <- Rows])
    catch _:_ -> #{}
    end.

nodes_of(Queues) ->
    maps:keys(maps:from_list([{home(Queue), here} || Queue <- Queues])).

home(Queue) ->
    case amqqueue:get_pid(Queue) of
        Pid when is_pid(Pid) -> node(Pid);
        {_, Node} -> Node;
        _ -> node()
    end.
