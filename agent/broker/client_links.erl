%% Consumers and publishers by AMQP 1.0 and by the stream protocol: their places on the connections of clients.
-module(client_links).
-export([linked_consumer/1, amqp10_links/2, stream_publishers/2]).

%% The client's address, a number and the protocol of a consumer. Sessions of AMQP 1.0 have no number in any table: theirs
%% only tells them apart.
linked_consumer(Channel) ->
    case client_channels:place(Channel) of
        {<<>>, _} -> {session_peer(Channel), erlang:phash2(Channel, 65536), 'amqp-1.0'};
        {Peer, Number} ->
            Infos = broker_tables:infos(channel_created, Channel),
            Owner = broker_tables:infos(connection_created, proplists:get_value(connection, Infos, Channel)),
            case proplists:get_value(protocol, Owner) of
                <<"stream">> -> {Peer, Number, stream};
                %% Those of the plugin before 4.0 share a number, too.
                {'AMQP', "1.0"} -> {Peer, erlang:phash2(Channel, 65536), 'amqp-1.0'};
                _ -> {Peer, Number, <<>>}
            end
    end.

%% The client's address of a session, from the name of its connection.
session_peer(Session) ->
    try
        session = roles:role(Session),
        [Peer, _] = binary:split(roles:served_connection(Session, session), <<" -> ">>),
        Peer
    catch _:_ -> <<>> end.

%% Calls Add(links, Row, Acc) for each link of AMQP 1.0: sessions tell theirs since RabbitMQ 4.1.
amqp10_links(Add, Acc) ->
    case erlang:module_loaded(rabbit_amqp_session) andalso erlang:function_exported(rabbit_amqp_session, info, 1) of
        true ->
            Sessions = try apply(rabbit_amqp_session, list_local, []) catch _:_ -> [] end,
            Answers = client_channels:answers(Sessions, fun (Session) ->
                {ok, Infos} = apply(rabbit_amqp_session, info, [Session]),
                Infos
            end),
            VHosts = session_vhosts(),
            maps:fold(fun (Session, Infos, In) -> links_of_session(Session, Infos, VHosts, Add, In) end, Acc, Answers);
        false -> Acc
    end.

links_of_session(Session, Infos, VHosts, Add, Acc) ->
    Peer = session_peer(Session),
    Row = #{peer => Peer, vhost => maps:get(Peer, VHosts, <<>>), channel => proplists:get_value(channel_number, Infos)},
    Kinds = [{incoming_links, target_address, false}, {outgoing_links, source_address, true}],
    lists:foldl(fun ({Kind, Key, IsReader}, In) ->
        lists:foldl(fun (Link, Now) ->
            case proplists:get_value(Key, Link) of
                Address when is_binary(Address) ->
                    Handle = proplists:get_value(handle, Link),
                    Add(links, Row#{handle => Handle, address => Address, reader => IsReader}, Now);
                _ -> Now
            end
        end, In, proplists:get_value(Kind, Infos, []))
    end, Acc, Kinds).

%% The virtual hosts of connections of AMQP 1.0, by the client's address.
session_vhosts() ->
    broker_tables:each_found(connection_created, [{{'_', '$1'}, [], ['$1']}], fun (Infos, In) ->
        case proplists:get_value(protocol, Infos) of
            {1, 0} -> In#{client_channels:peer(Infos) => broker_tables:text(vhost, Infos)};
            _ -> In
        end
    end, #{}).

%% Calls Add(publishers, Row, Acc) for each publisher of a stream.
stream_publishers(Add, Acc) ->
    case ets:whereis(rabbit_stream_publisher_created) of
        undefined -> Acc;
        Table ->
            broker_tables:each_found(Table, [{'_', [], ['$_']}], fun
                ({{{resource, VHost, _, Stream}, Connection, Number}, Infos}, In) when is_list(Infos) ->
                    Reference = proplists:get_value(reference, Infos),
                    Add(publishers, #{vhost => VHost, stream => Stream, number => Number,
                        has_reference => is_binary(Reference) andalso Reference =/= <<>>,
                        peer => client_channels:peer(broker_tables:infos(connection_created, Connection))}, In);
                (_, In) ->
                    In
            end, Acc)
    end.
