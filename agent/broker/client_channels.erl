%% Channels of clients: their places, and their limits of unacknowledged messages.
-module(client_channels).
-export([place/1, peer/1, limits/0, answers/2]).

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
%% messages. Else the channels are asked; those without an answer are unknown.
limits() ->
    Without = [{{{'_', '$1', '_'}, '_', true, 0, '_', '_', '_'}, [], ['$1']}],
    Channels = lists:usort(broker_tables:each_found(consumer_created, Without, fun (Channel, All) -> [Channel | All] end, [])),
    {Known, Unknown} = lists:foldl(fun (Channel, {Limits, Others}) ->
        case proplists:get_value(global_prefetch_count, broker_tables:infos(channel_metrics, Channel)) of
            Count when is_integer(Count) -> {Limits#{Channel => Count}, Others};
            _ -> {Limits, [Channel | Others]}
        end
    end, {#{}, []}, Channels),
    Answers = answers([Channel || Channel <- Unknown, is_channel(Channel)], fun (Channel) ->
        [{_, Count}] = apply(rabbit_channel, info, [Channel, [global_prefetch_count]]),
        Count
    end),
    maps:merge(Known, maps:filter(fun (_, Count) -> is_integer(Count) end, Answers)).

%% Sessions of AMQP 1.0 have consumers too, but are no channels.
is_channel(Channel) ->
    Owner = proplists:get_value(connection, broker_tables:infos(channel_created, Channel)),
    proplists:get_value(protocol, broker_tables:infos(connection_created, Owner)) =:= {0, 9, 1}.

%% The answers of processes by pid. Up to 1,000 are asked, each by a process of its own, since one may not answer. Those
%% without an answer within two seconds are left out.
answers(Pids, Ask) ->
    Asked = maps:from_list([ask(Pid, Ask) || Pid <- lists:sublist(Pids, 1000)]),
    collect(erlang:monotonic_time(millisecond) + 2000, Asked, #{}).

ask(Pid, Ask) ->
    {Process, Monitor} = spawn_monitor(fun () ->
        %% The node would log an error.
        exit(try {answer, Ask(Pid)} catch _:_ -> none end)
    end),
    {Monitor, {Process, Pid}}.

collect(_, Asked, Answers) when map_size(Asked) =:= 0 -> Answers;
collect(Deadline, Asked, Answers) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Asked) ->
            {{_, Pid}, Others} = maps:take(Monitor, Asked),
            case Reason of
                {answer, Answer} -> collect(Deadline, Others, Answers#{Pid => Answer});
                _ -> collect(Deadline, Others, Answers)
            end
    after max(0, Deadline - erlang:monotonic_time(millisecond)) ->
        [begin demonitor(Monitor, [flush]), exit(Process, kill) end || {Monitor, {Process, _}} <- maps:to_list(Asked)],
        Answers
    end.
