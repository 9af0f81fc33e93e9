%% Reads exchanges, queues, bindings, policies, connections, consumers, and the node's version and settings, as JSON.
%%
%% A module of functions, not an agent. Rows are sent some hundred at a time. A row is {Kind, JSON}: Kind is the name of a
%% list in a definitions file, `connections`, `consumers`, `links`, `publishers` or `node`. Settings are those of a closed list. Users and
%% parameters are not read: they hold password hashes, and addresses of shovels and federation. Only tables are read, and
%% processes are asked for facts that no table has: channels for their limit of unacknowledged messages (client_channels),
%% sessions of AMQP 1.0 for their links (client_links).
-module(rabbitscope_workload).
-export([objects/1, traffic/1]).

-type to() :: {pid(), reference()}.

-spec objects(to()) -> {parts, non_neg_integer(), ok}.
objects(To) ->
    Kinds = [fun exchanges/2, fun queues/2, fun bindings/2, fun policies/2, fun connections/2, fun consumers/2,
        fun client_links:amqp10_links/2, fun client_links:stream_publishers/2, fun node/2],
    All = lists:foldl(fun (Kind, Sent) -> Kind(fun (Name, Row, In) -> add(To, Name, Row, In) end, Sent) end,
        none_sent(), Kinds),
    {parts, sent(To, All), ok}.

%% Messages of channels, and received bytes of connections, as the node counted them so far: rows of `published` (by
%% exchange), `routed` (also by queue), `read` (by queue) and `received`. Empty if the node does not count. Channels write
%% their counts every few seconds.
-spec traffic(to()) -> {parts, non_neg_integer(), ok}.
traffic(To) ->
    Add = fun (Name, Row, In) -> add(To, Name, Row, In) end,
    All = client_traffic:each(Add, none_sent()),
    {parts, sent(To, All), ok}.

vhosts() -> apply(rabbit_vhost, list_names, []).

exchanges(Add, Sent) ->
    Items = [name, type, durable, auto_delete, internal, arguments],
    in_vhosts(fun (VHost) -> apply(rabbit_exchange, list, [VHost]) end, fun (Exchange, In) ->
        [{_, {resource, VHost, _, Name}} | Rest] = apply(rabbit_exchange, info, [Exchange, Items]),
        Row = maps:from_list(lists:keydelete(arguments, 1, Rest)),
        Arguments = table(proplists:get_value(arguments, Rest, [])),
        Add(exchanges, Row#{vhost => VHost, name => Name, arguments => Arguments}, In)
    end, Sent).

queues(Add, Sent) ->
    Head = queue_table:queue_head([{name, '$1'}, {durable, '$2'}, {auto_delete, '$3'}, {exclusive_owner, '$4'}, {arguments, '$5'}]),
    Specification = [{Head, [], [{{'$1', '$2', '$3', '$4', '$5'}}]}],
    broker_tables:each_found(queue_table:queue_table(), Specification,
        fun ({{resource, VHost, _, Name} = Resource, Durable, AutoDelete, Owner, Arguments}, In) ->
            Row = #{vhost => VHost, name => Name, durable => Durable, auto_delete => AutoDelete,
                exclusive => is_pid(Owner), arguments => table(Arguments), messages_ready => ready(Resource)},
            subscriber(Add, Resource, Owner, Add(queues, Row, In))
        end, Sent).

%% Since RabbitMQ 3.12, a client of MQTT is its own queue if it acknowledges nothing. No table has it as a consumer.
subscriber(Add, {resource, VHost, _, <<"mqtt-subscription-", Rest/binary>> = Name}, Owner, In) when is_pid(Owner) ->
    case binary:longest_common_suffix([Rest, <<"qos0">>]) of
        4 ->
            Row = #{vhost => VHost, queue => Name, consumer_tag => <<>>, exclusive => false, ack_required => false,
                prefetch_count => 0, arguments => #{}, channel => 0, channel_prefetch_count => null,
                peer => client_channels:peer(broker_tables:infos(connection_created, Owner))},
            Add(consumers, Row, In);
        _ -> In
    end;
subscriber(_, _, _, In) -> In.

%% Messages that wait, as the queue counted them last; null if the node does not count.
ready(Queue) ->
    case catch ets:lookup(queue_coarse_metrics, Queue) of
        [Row] when is_integer(element(2, Row)) -> element(2, Row);
        _ -> null
    end.

bindings(Add, Sent) ->
    in_vhosts(fun (VHost) -> apply(rabbit_binding, list, [VHost]) end, fun
        ({binding, {resource, _, _, <<>>}, _, _, _}, In) ->
            In;
        ({binding, {resource, VHost, _, Source}, Key, {resource, _, Kind, Destination}, Arguments}, In) ->
            Row = #{vhost => VHost, source => Source, destination => Destination, destination_type => Kind,
                routing_key => Key, arguments => table(Arguments)},
            Add(bindings, Row, In)
    end, Sent).

policies(Add, Sent) ->
    in_vhosts(fun (VHost) -> apply(rabbit_policy, list, [VHost]) end, fun (Policy, In) ->
        #{definition := Definition} = Row = maps:from_list(Policy),
        Map = if is_list(Definition) -> maps:from_list(Definition); true -> Definition end,
        Add(policies, Row#{definition := Map}, In)
    end, Sent).

%% Connections of AMQP 0-9-1.
connections(Add, Sent) ->
    broker_tables:each_found(connection_created, [{{'_', '$1'}, [], ['$1']}], fun (Infos, In) ->
        case proplists:get_value(protocol, Infos) of
            {0, 9, 1} ->
                Add(connections, #{peer => client_channels:peer(Infos), vhost => broker_tables:text(vhost, Infos),
                    product => product(Infos), tls => tls(Infos), control => is_control(Infos)}, In);
            _ -> In
        end
    end, Sent).

%% Whether it is the connection by which a run of this program declares queues: those of its load have a number.
is_control(Infos) ->
    Name = broker_tables:text(user_provided_name, Infos),
    lists:member(Name, [<<"rabbitscope control">>, <<"rabbitscope waiting">>]).

%% The version of TLS, empty without.
tls(Infos) ->
    case {proplists:get_value(ssl, Infos), proplists:get_value(ssl_protocol, Infos)} of
        {true, Version} when is_atom(Version) -> atom_to_binary(Version, utf8);
        {true, _} -> <<"unknown">>;
        _ -> <<>>
    end.

%% The client's program, as it introduced itself. Other properties are not read.
product(Infos) ->
    Properties = proplists:get_value(client_properties, Infos),
    case is_list(Properties) andalso lists:keyfind(<<"product">>, 1, Properties) of
        {_, longstr, Product} -> Product;
        _ -> <<>>
    end.

consumers(Add, Sent) ->
    Limits = client_channels:limits(),
    broker_tables:each_found(consumer_created, [{'_', [], ['$_']}], fun
        ({{{resource, VHost, _, Queue}, Channel, Tag}, Exclusive, AckRequired, Prefetch, _, _, Arguments}, In) ->
            {Peer, Number, Protocol} = client_links:linked_consumer(Channel),
            Row = #{vhost => VHost, queue => Queue, consumer_tag => Tag, exclusive => Exclusive,
                ack_required => AckRequired, prefetch_count => Prefetch, arguments => table(Arguments),
                channel => Number, peer => Peer, protocol => Protocol, channel_prefetch_count => maps:get(Channel, Limits, null)},
            Add(consumers, Row, In);
        (_, In) ->
            In
    end, Sent).

node(Add, Sent) ->
    Settings = [{Key, Text} || {rabbit, Key, Text} <- check_settings:settings()],
    Text = fun unicode:characters_to_binary/1,
    Add(node, #{version => Text(apply(rabbit_misc, version, [])), otp => Text(erlang:system_info(otp_release)),
        settings => maps:from_list(Settings)}, Sent).

%% Arguments with values that JSON has.
table(Arguments) when is_list(Arguments) ->
    maps:from_list([{Key, Value} || {Key, Type, Of} <- Arguments, {ok, Value} <- [value(Type, Of)]]);
table(_) -> #{}.

value(longstr, Text) when is_binary(Text) -> {ok, Text};
value(bool, Value) -> {ok, Value};
value(table, Of) -> {ok, table(Of)};
value(array, Items) -> {ok, [Value || {Type, Of} <- Items, {ok, Value} <- [value(Type, Of)]]};
value(_, Number) when is_number(Number) -> {ok, Number};
value(_, _) -> none.

in_vhosts(List, Each, Sent) ->
    lists:foldl(fun (VHost, In) -> lists:foldl(Each, In, List(VHost)) end, Sent, vhosts()).

none_sent() -> {[], 0, 0}.

%% A row that JSON cannot hold, such as a name that is no UTF-8, is left out.
add(To, Kind, Row, {Rows, Count, Sent}) ->
    try iolist_to_binary(apply(rabbit_json, encode, [Row])) of
        Text when Count =:= 299 -> {[], 0, send(To, [{Kind, Text} | Rows], Sent)};
        Text -> {[{Kind, Text} | Rows], Count + 1, Sent}
    catch error:_ -> {Rows, Count, Sent} end.

sent(_, {[], _, Sent}) -> Sent;
sent(To, {Rows, _, Sent}) -> send(To, Rows, Sent).

send({Pid, Ref}, Rows, Sent) ->
    Pid ! {Ref, {rows, Rows}},
    Sent + 1.
