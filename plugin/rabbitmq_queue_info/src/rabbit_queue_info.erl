%% What is known of the queues, from tables that the node keeps anyway. No queue process is asked: the
%% figures are as old as `collect_statistics_interval` at most, and a queue that is stuck delays nobody.
-module(rabbit_queue_info).
-export([list/1]).

%% Queues of a virtual host, or of all (`all`): maps with `name`, `vhost`, `type`, `ready`,
%% `unacknowledged`, `consumers`. A figure is `null` as long as its queue has not reported it.
list(VHost) ->
    Queues = case VHost of
        all -> lists:append([rabbit_amqqueue:list(Each) || Each <- rabbit_vhost:list_names()]);
        _ -> rabbit_amqqueue:list(VHost)
    end,
    Elsewhere = [Node || Node <- nodes_of(Queues), Node =/= node()],
    Remote = maps:from_list([{Node, remote_depths(Node)} || Node <- Elsewhere]),
    [row(Queue, Remote) || Queue <- Queues].

row(Queue, Remote) ->
    {resource, VHost, queue, Name} = Id = amqqueue:get_name(Queue),
    {Ready, Unacknowledged} = depth(Id, home(Queue), Remote),
    #{name => Name, vhost => VHost, type => type(amqqueue:get_type(Queue)), ready => Ready,
        unacknowledged => Unacknowledged, consumers => consumers(Id)}.

type(rabbit_classic_queue) -> <<"classic">>;
type(rabbit_quorum_queue) -> <<"quorum">>;
type(rabbit_stream_queue) -> <<"stream">>;
type(Module) -> atom_to_binary(Module, utf8).

depth(Id, Node, Remote) when is_map_key(Node, Remote) ->
    maps:get(Id, map_get(Node, Remote), {null, null});
depth(Id, _, _) ->
    case catch ets:lookup(queue_coarse_metrics, Id) of
        [Row] -> {element(2, Row), element(3, Row)};
        _ -> {null, null}
    end.

%% Consumers are counted where the queue lives.
consumers(Id) ->
    case catch ets:lookup(queue_metrics, Id) of
        [Row] ->
            case lists:keyfind(consumers, 1, element(2, Row)) of
                {_, Count} when is_integer(Count) -> Count;
                _ -> null
            end;
        _ -> null
    end.

%% Another node may be slow or gone: after a second its queues have no figures.
remote_depths(Node) ->
    try erpc:call(Node, ets, tab2list, [queue_coarse_metrics], 1000) of
        Rows -> maps:from_list([{element(1, Row), {element(2, Row), element(3, Row)}} || Row <- Rows])
    catch _:_ -> #{}
    end.

nodes_of(Queues) ->
    lists:usort([home(Queue) || Queue <- Queues]).

home(Queue) ->
    case amqqueue:get_pid(Queue) of
        Pid when is_pid(Pid) -> node(Pid);
        {_, Node} -> Node;
        _ -> node()
    end.
