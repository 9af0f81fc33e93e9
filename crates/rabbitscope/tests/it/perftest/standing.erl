%% What stands in a virtual host, as sorted lines of text: what is declared, who is connected, how
%% channels and consumers are set. What belongs to the observer is left out, and names that the broker
%% made up are all the same.
-module(standing).
-export([prepare/2, remove/1, of_vhost/1]).

%% A virtual host with a right to everything, in which published messages are traced.
prepare(VHost, User) ->
    _ = rabbit_vhost:add(VHost, <<"test">>),
    All = <<".*">>,
    ok = rabbit_auth_backend_internal:set_permissions(User, VHost, All, All, All, <<"test">>),
    rabbit_trace:start(VHost),
    ok.

remove(VHost) ->
    _ = rabbit_vhost:delete(VHost, <<"test">>),
    ok.

of_vhost(VHost) ->
    Lines = exchanges(VHost) ++ queues(VHost) ++ bindings(VHost) ++ consumers(VHost) ++ connections(VHost),
    iolist_to_binary(lists:join("\n", lists:sort(Lines))).

exchanges(VHost) ->
    Infos = rabbit_exchange:info_all(VHost, [name, type, durable, auto_delete, internal, arguments]),
    [line("exchange ~ts", Name, " ~0tp", [Rest])
     || [{name, {resource, _, _, Name}} | Rest] <- Infos, not is_ours(Name), not is_predeclared(Name)].

queues(VHost) ->
    [line("queue ~ts", name(Name), " ~0tp ~0tp durable ~p auto-delete ~p exclusive ~p",
          [kind(amqqueue:get_type(Q)), lists:sort(amqqueue:get_arguments(Q)), amqqueue:is_durable(Q),
           amqqueue:is_auto_delete(Q), amqqueue:get_exclusive_owner(Q) =/= none])
     || Q <- rabbit_amqqueue:list(VHost),
        {resource, _, _, Name} <- [amqqueue:get_name(Q)], not is_ours(Name)].

bindings(VHost) ->
    [line("binding of ~ts", name(Queue), " to ~ts by ~ts ~0tp", [Exchange, Key, Arguments])
     || {binding, {resource, _, _, Exchange}, Key, {resource, _, _, Queue}, Arguments}
            <- rabbit_binding:list(VHost),
        Exchange =/= <<>>, not is_ours(Queue), not is_ours(Exchange)].

consumers(VHost) ->
    [line("consumer of ~ts", name(Queue), " ack ~p prefetch ~p ~0tp",
          [value(ack_required, Info), value(prefetch_count, Info), lists:sort(value(arguments, Info))])
     || Info <- rabbit_amqqueue:consumers_all(VHost),
        {resource, _, _, Queue} <- [value(queue_name, Info)], not is_ours(Queue)].

%% Connections with their channels. Those that only declare, and the observer's, are left out.
connections(VHost) ->
    Keys = [pid, vhost, client_properties, timeout, frame_max, channel_max, auth_mechanism],
    Channels = rabbit_channel:info_all(
                 [connection, prefetch_count, global_prefetch_count, confirm, transactional, consumer_count]),
    [line("connection", "", " ~0tp channels ~0tp",
          [[value(Key, Info) || Key <- [timeout, frame_max, channel_max, auth_mechanism]],
           lists:sort([Rest || [{connection, Pid} | Rest] <- Channels, Pid =:= value(pid, Info)])])
     || Info <- rabbit_networking:connection_info_all(Keys),
        value(vhost, Info) =:= VHost, is_load(Info)].

is_load(Info) ->
    case lists:keyfind(<<"connection_name">>, 1, value(client_properties, Info)) of
        {_, _, <<"perf-test-configuration", _/binary>>} -> false;
        {_, _, <<"rabbitscope control">>} -> false;
        {_, _, <<"observer">>} -> false;
        _ -> true
    end.

value(Key, Info) -> element(2, lists:keyfind(Key, 1, Info)).

is_ours(<<"observer", _/binary>>) -> true;
is_ours(<<"rabbitscope.", _/binary>>) -> true;
is_ours(<<"amq.rabbitmq.trace">>) -> true;
is_ours(_) -> false.

is_predeclared(<<>>) -> true;
is_predeclared(<<"amq.", _/binary>>) -> true;
is_predeclared(_) -> false.

name(<<"amq.gen", _/binary>>) -> <<"amq.gen">>;
name(Name) -> Name.

kind(rabbit_classic_queue) -> classic;
kind(rabbit_quorum_queue) -> quorum;
kind(rabbit_stream_queue) -> stream;
kind(Other) -> Other.

line(Front, Name, Rest, Values) ->
    unicode:characters_to_binary(io_lib:format(Front ++ Rest, [Name || Name =/= ""] ++ Values)).
