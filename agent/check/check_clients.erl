%% Connections and channels with the most work, and those that hold most.
-module(check_clients).
-export([connection_figures/2, channel_rows/2]).

%% ---- Connections ----

connection_figures(#{base := Base, is_written := IsWritten} = Context, FlowPids) ->
    Heavy = check_base:each_paced(connection_coarse_metrics, [{{'$1', '$2', '$3', '_', '_'}, [], [{{'$1', '$2', '$3'}}]}],
        fun ({Pid, Received, Sent}, In) -> check_best:better(bytes, since(Base, Pid, Received, Sent), Pid, 25, In) end, #{}),
    {Blocked, Bests} = check_lists:each_values(connection_metrics, [state, channels, send_pend],
        fun (Pid, [State, Channels, Pending], {Count, In}) ->
            Many = check_best:better(pending, Pending, Pid, 10, check_best:better(channels, Channels, Pid, 10, In)),
            IsBlocked = lists:member(State, [blocked, blocking]),
            {Count + one_if(IsBlocked), check_best:better(blocked, one_if(IsBlocked orelse State =:= flow), Pid, 10, Many)}
        end, {0, Heavy}),
    InFlow = lists:sublist([Pid || Pid <- FlowPids, ets:member(connection_created, Pid)], 20),
    #{blocked => case IsWritten of true -> Blocked; false -> unknown end,
        rows => [connection_row(Pid, Context) || Pid <- lists:usort(check_best:chosen(Bests) ++ InFlow)]}.

one_if(true) -> 1;
one_if(false) -> 0.

since(Base, Pid, Received, Sent) ->
    Now = {{bytes, Pid}, Received, Sent},
    check_base:grown(Base, Now, 2) + check_base:grown(Base, Now, 3).

%% Received and sent bytes since the first snapshot.
traffic_since(Base, Pid) ->
    case ets:lookup(connection_coarse_metrics, Pid) of
        [Row] when is_integer(element(2, Row)), is_integer(element(3, Row)) ->
            Now = {{bytes, Pid}, element(2, Row), element(3, Row)},
            {check_base:grown(Base, Now, 2), check_base:grown(Base, Now, 3)};
        _ -> unknown
    end.

connection_row(Pid, #{base := Base, is_written := IsWritten}) ->
    Created = broker_tables:infos(connection_created, Pid),
    Infos = broker_tables:infos(connection_metrics, Pid),
    maps:merge(client_texts(Created, Created), #{pid => Pid, protocol => broker_tables:protocol(proplists:get_value(protocol, Created)),
        library => library_name(proplists:get_value(client_properties, Created)),
        state => proplists:get_value(state, Infos, unknown), channels => proplists:get_value(channels, Infos, unknown),
        send_pending => proplists:get_value(send_pend, Infos, unknown),
        traffic => case IsWritten of true -> traffic_since(Base, Pid); false -> unknown end}).

client_texts(Infos, Connection) ->
    #{name => broker_tables:text(name, Infos), vhost => broker_tables:text(vhost, Infos), user => broker_tables:text(user, Infos),
        client => broker_tables:text(user_provided_name, Connection)}.

%% Product and version that the client gave; values are {Key, Type, Value}.
library_name(Properties) when is_list(Properties) ->
    Given = [Text || Key <- [<<"product">>, <<"version">>], {Other, _, Text} <- Properties, Other =:= Key, is_binary(Text)],
    iolist_to_binary(lists:join(" ", Given));
library_name(_) -> <<>>.

%% ---- Channels ----

channel_rows(#{sums := Sums} = Context, FlowPids) ->
    Holding = check_lists:each_values(channel_metrics, [messages_unacknowledged, messages_unconfirmed], fun (Pid, [Unacked, Unconfirmed], In) ->
        check_best:better(unconfirmed, Unconfirmed, Pid, 15, check_best:better(unacked, Unacked, Pid, 25, In))
    end, #{}),
    Consuming = check_sums:each_consuming(Sums, fun (Pid, Count, In) -> check_best:better(consumers, Count, Pid, 10, In) end, Holding),
    Bests = check_sums:each_sums(Sums, is_pid, fun with_rates/3, Consuming),
    Chosen = lists:usort(check_best:chosen(Bests) ++ lists:sublist([Pid || Pid <- FlowPids, ets:member(channel_created, Pid)], 20)),
    [channel_row(Pid, Context) || Pid <- Chosen, ets:member(channel_created, Pid)]
        ++ [session_row(Pid, Context) || Pid <- Chosen, not ets:member(channel_created, Pid), roles:role(Pid) =:= session].

with_rates(Pid, [Published, _, Delivered, Acknowledged, Got, Nothing], Bests) ->
    Orders = [{published, Published}, {delivered, Delivered}, {acknowledged, Acknowledged}, {got, Got + Nothing}],
    lists:foldl(fun ({Order, Count}, In) -> check_best:better(Order, Count, Pid, 12, In) end, Bests, Orders).

channel_row(Pid, #{base := Base, sums := Sums, is_counted := IsCounted}) ->
    Created = broker_tables:infos(channel_created, Pid),
    Connection = proplists:get_value(connection, Created, none),
    Infos = broker_tables:infos(channel_metrics, Pid),
    Before = case ets:lookup(Base, {unacked, Pid}) of [{_, Count}] when is_integer(Count) -> Count; _ -> 0 end,
    Figure = fun (Key) -> proplists:get_value(Key, Infos, unknown) end,
    maps:merge(client_texts(Created, broker_tables:infos(connection_created, Connection)), #{pid => Pid, connection => Connection,
        consumers => consumers_of(Pid, Sums), unacknowledged => Figure(messages_unacknowledged), unacknowledged_before => Before,
        unconfirmed => Figure(messages_unconfirmed), global_prefetch => Figure(global_prefetch_count), confirming => Figure(confirm),
        transactional => Figure(transactional), sums => check_sums:sums_of(Sums, Pid, IsCounted)}).

consumers_of(Pid, Sums) ->
    case ets:lookup(Sums, {consumers, Pid}) of
        [{_, Count, WithoutAck, Prefetch, Queues}] -> {Count, WithoutAck, Prefetch, [Name || {resource, _, queue, Name} <- Queues]};
        [] -> none
    end.

%% A session of AMQP 1.0 since RabbitMQ 4.0 consumes as a channel does. It is in no table, and its figures are unknown.
session_row(Pid, #{sums := Sums}) ->
    VHosts = [VHost || {_, _, _, _, Queues} <- ets:lookup(Sums, {consumers, Pid}), {resource, VHost, queue, _} <- Queues],
    Infos = [{name, roles:served_connection(Pid, session)}, {vhost, case VHosts of [VHost | _] -> VHost; [] -> <<>> end}],
    maps:merge(client_texts(Infos, []), #{pid => Pid, consumers => consumers_of(Pid, Sums), sums => unknown}).
