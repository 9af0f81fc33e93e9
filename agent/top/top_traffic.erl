%% Messages of queues and channels, and bytes of connections.
-module(top_traffic).
-export([traffic/1, traffic_of/4]).

%% In and out by pid (channels) or name (queues), or the socket by pid (connections).
traffic(processes) -> none;
traffic(connections) ->
    Ports = maps:from_list([{Pid, Port} || Port <- erlang:ports(),
        {name, "tcp_inet"} <- [erlang:port_info(Port, name)],
        {connected, Pid} <- [erlang:port_info(Port, connected)]]),
    {Ports, serving(Ports)};
traffic(What) ->
    Sums = ets:new(traffic, [set, private]),
    Add = fun (Key, Position, More) -> ets:update_counter(Sums, Key, {Position, More}, {Key, 0, 0}) end,
    published(What, Add),
    broker_tables:each_found(channel_queue_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {Channel, Queue} = element(1, Row),
        %% get, get_no_ack, deliver, deliver_no_ack
        Add(key(What, Channel, Queue), 3, element(2, Row) + element(3, Row) + element(4, Row) + element(5, Row))
    end, none),
    Sums.

%% The process that owns the socket, for connections served by a plugin.
serving(Ports) ->
    Direct = broker_tables:each(connections, fun (Pid, _, Found) ->
        Infos = broker_tables:infos(connection_created, Pid),
        case proplists:get_value(type, Infos) of
            direct -> [{Pid, {proplists:get_value(peer_host, Infos), proplists:get_value(peer_port, Infos)}} | Found];
            _ -> Found
        end
    end, []),
    Peers = case Direct of
        [] -> #{};
        _ -> maps:from_list([{Peer, Pid} || {Pid, Port} <- maps:to_list(Ports), {ok, Peer} <- [inet:peername(Port)], is_not_tls(Pid)])
    end,
    maps:from_list([{Pid, maps:get(Peer, Peers)} || {Pid, Peer} <- Direct, is_map_key(Peer, Peers)]).

%% The socket of a TLS connection belongs to a process of TLS, which does not serve the protocol in it.
is_not_tls(Pid) ->
    case process_info(Pid, dictionary) of
        {_, Dictionary} ->
            case lists:keyfind('$initial_call', 1, Dictionary) of
                {_, {Module, _, _}} -> not lists:prefix("tls_", atom_to_list(Module)) andalso Module =/= ssl_gen_statem;
                _ -> true
            end;
        undefined -> false
    end.

published(queues, Add) ->
    broker_tables:each_found(channel_queue_exchange_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {_, {Queue, _}} = element(1, Row),
        Add(Queue, 2, element(2, Row))
    end, none);
published(channels, Add) ->
    broker_tables:each_found(channel_exchange_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {Channel, _} = element(1, Row),
        Add(Channel, 2, element(2, Row))
    end, none).

key(queues, _, Queue) -> Queue;
key(channels, Channel, _) -> Channel.

traffic_of(processes, _, _, _) -> {unknown, unknown};
traffic_of(connections, Pid, _, {Ports, _}) ->
    %% The socket of a TLS connection belongs to another process.
    case Ports of
        #{Pid := Port} ->
            case inet:getstat(Port, [recv_oct, send_oct]) of
                {ok, [{_, In}, {_, Out}]} -> {In, Out};
                _ -> {unknown, unknown}
            end;
        _ -> {unknown, unknown}
    end;
traffic_of(queues, _, Name, Sums) -> summed(Name, Sums);
traffic_of(channels, Pid, _, Sums) -> summed(Pid, Sums).

summed(Key, Sums) ->
    case ets:lookup(Sums, Key) of
        [{_, In, Out}] -> {In, Out};
        [] -> {0, 0}
    end.
