%% Channels of clients: their places, and their limits of unacknowledged messages.
-module(client_channels).
-export([place/1, peer/1, limits/0]).

%% The client's address and the number of a channel. Since RabbitMQ 3.12, clients of MQTT have none: the process of their
%% connection consumes.
place(Channel) ->
    Infos = broker_tables:infos(channel_created, Channel),
    Owner = broker_tables:infos(connection_created, proplists:get_value(connection, Infos, Channel)),
    {peer(Owner), proplists:get_value(number, Infos, 0)}.

%% The client's address, empty if it is unknown.
peer(Infos) ->
    Port = proplists:get_value(peer_port, Infos),
    try {inet:ntoa(proplists:get_value(peer_host, Infos)), Port} of
        {Host, Port} when is_list(Host), is_integer(Port) ->
            Form = case lists:member($:, Host) of true -> "[~ts]:~b"; false -> "~ts:~b" end,
            unicode:characters_to_binary(io_lib:format(Form, [Host, Port]));
        _ -> <<>>
    catch _:_ -> <<>> end.

%% The limits of channels that have consumers without one, by pid; 0 for no limit. A table has them if the node counts
%% messages. Else up to 1,000 channels are asked, each by a process of its own, since a channel may not answer. Those
%% without an answer within two seconds are unknown.
limits() ->
    Without = [{{{'_', '$1', '_'}, '_', true, 0, '_', '_', '_'}, [], ['$1']}],
    Channels = lists:usort(broker_tables:each_found(consumer_created, Without, fun (Channel, All) -> [Channel | All] end, [])),
    {Known, Unknown} = lists:foldl(fun (Channel, {Limits, Others}) ->
        case proplists:get_value(global_prefetch_count, broker_tables:infos(channel_metrics, Channel)) of
            Count when is_integer(Count) -> {Limits#{Channel => Count}, Others};
            _ -> {Limits, [Channel | Others]}
        end
    end, {#{}, []}, Channels),
    Asked = maps:from_list([ask(Channel) || Channel <- lists:sublist(Unknown, 1000), is_channel(Channel)]),
    collect(erlang:monotonic_time(millisecond) + 2000, Asked, Known).

%% Sessions of AMQP 1.0 have consumers too, but are no channels.
is_channel(Channel) ->
    Owner = proplists:get_value(connection, broker_tables:infos(channel_created, Channel)),
    proplists:get_value(protocol, broker_tables:infos(connection_created, Owner)) =:= {0, 9, 1}.

ask(Channel) ->
    {Process, Monitor} = spawn_monitor(fun () ->
        %% The node would log an error.
        exit({answer, try apply(rabbit_channel, info, [Channel, [global_prefetch_count]]) catch _:_ -> none end})
    end),
    {Monitor, {Process, Channel}}.

collect(_, Asked, Limits) when map_size(Asked) =:= 0 -> Limits;
collect(Deadline, Asked, Limits) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Asked) ->
            {{_, Channel}, Others} = maps:take(Monitor, Asked),
            case Reason of
                {answer, [{_, Count}]} when is_integer(Count) -> collect(Deadline, Others, Limits#{Channel => Count});
                _ -> collect(Deadline, Others, Limits)
            end
    after max(0, Deadline - erlang:monotonic_time(millisecond)) ->
        [begin demonitor(Monitor, [flush]), exit(Process, kill) end || {Monitor, {Process, _}} <- maps:to_list(Asked)],
        Limits
    end.
