%% Messages of channels and bytes of connections, from the tables of the broker's statistics.
-module(client_traffic).
-export([each/2]).

%% Calls Add(Kind, Row, Acc) for each row.
each(Add, Acc) ->
    lists:foldl(fun (Kind, In) -> Kind(Add, In) end, Acc, [fun published/2, fun routed/2, fun read/2, fun received/2]).

published(Add, Acc) ->
    counts(channel_exchange_metrics, fun ({Channel, {resource, VHost, _, Exchange}}, Row, In) ->
        Mode = broker_tables:infos(channel_metrics, Channel),
        Add(published, (place_of(Channel))#{vhost => VHost, exchange => Exchange, published => element(2, Row),
            confirm => proplists:get_value(confirm, Mode) =:= true,
            transactional => proplists:get_value(transactional, Mode) =:= true}, In)
    end, Acc).

routed(Add, Acc) ->
    counts(channel_queue_exchange_metrics, fun ({Channel, {{resource, VHost, _, Queue}, {resource, _, _, Exchange}}}, Row, In) ->
        Add(routed, (place_of(Channel))#{vhost => VHost, exchange => Exchange, queue => Queue, published => element(2, Row)}, In)
    end, Acc).

read(Add, Acc) ->
    counts(channel_queue_metrics, fun ({Channel, {resource, VHost, _, Queue}}, Row, In) ->
        [_, Got, GotNoAck, Delivered, DeliveredNoAck, Redelivered, Acknowledged, Empty | _] = tuple_to_list(Row),
        Add(read, (place_of(Channel))#{vhost => VHost, queue => Queue, got => Got + GotNoAck, got_empty => Empty,
            delivered => Delivered, delivered_no_ack => DeliveredNoAck, redelivered => Redelivered,
            acknowledged => Acknowledged}, In)
    end, Acc).

received(Add, Acc) ->
    counts(connection_coarse_metrics, fun (Connection, Row, In) ->
        Peer = client_channels:peer(broker_tables:infos(connection_created, Connection)),
        Add(received, #{peer => Peer, bytes => element(2, Row)}, In)
    end, Acc).

counts(Table, Each, Acc) ->
    broker_tables:each_found(Table, [{'$1', [], ['$1']}], fun (Row, In) -> Each(element(1, Row), Row, In) end, Acc).

place_of(Channel) ->
    {Peer, Number} = client_channels:place(Channel),
    #{peer => Peer, channel => Number}.
