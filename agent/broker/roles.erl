%% The role of a process in RabbitMQ, and its name for people.
-module(roles).
-export([roles/0, role/1, shown_role/1, replica_role/1, role_of/3, process_name/1, served_connection/2, local_pid/1]).

%% All roles.
roles() ->
    [reader, writer, channel, session, limiter, queue, mirror, stream_writer, stream_replica, stream_reader, mqtt_reader,
     stomp_reader, ra_server, ra_log, msg_store, mgmt_cache, mgmt_stats, http, tls_connection, tls_sender, delegate,
     mnesia, khepri, shovel, federation, amqp_client, supervisor, listener, other].

%% The role of a process, from its start function; the same word as on the command line.
role(Pid) ->
    case is_pid(Pid) andalso node(Pid) =:= node() andalso process_info(Pid, [registered_name, initial_call, dictionary]) of
        [{registered_name, Name}, {initial_call, Initial}, {dictionary, Dictionary}] ->
            Started = case lists:keyfind('$initial_call', 1, Dictionary) of
                {_, {_, _, _} = MFA} -> MFA;
                _ -> Initial
            end,
            role_of(if is_atom(Name) -> Name; true -> none end, Started, proplists:get_value('$ancestors', Dictionary, []));
        _ -> unknown
    end.

%% The role for display. That of a quorum queue's process has its part among the replicas; on the command line
%% `ra_server` stands for all of these.
shown_role(Pid) ->
    case role(Pid) of ra_server -> replica_role(Pid); Role -> Role end.

%% Ra keeps a table with the state of each of its servers on this node.
replica_role(Pid) ->
    case process_info(Pid, registered_name) of
        {registered_name, Name} when is_atom(Name) ->
            try ets:lookup_element(ra_state, Name, 2) of
                leader -> quorum_leader;
                _ -> quorum_follower
            catch error:badarg -> ra_server end;
        _ -> ra_server
    end.

role_of(_, {Module, _, _}, _) when Module =:= rabbit_reader; Module =:= rabbit_amqp_reader -> reader;
role_of(_, {Module, _, _}, _) when Module =:= rabbit_writer; Module =:= rabbit_amqp_writer; Module =:= rabbit_amqp1_0_writer -> writer;
role_of(_, {rabbit_channel, _, _}, _) -> channel;
%% A session of AMQP 1.0 corresponds to a channel of 0-9-1. It is in a plugin before RabbitMQ 4.0, in the broker since.
role_of(_, {Module, _, _}, _) when Module =:= rabbit_amqp_session; Module =:= rabbit_amqp1_0_session_process -> session;
role_of(_, {rabbit_limiter, _, _}, _) -> limiter;
role_of(_, {rabbit_amqqueue_process, _, _}, _) -> queue;
role_of(_, {rabbit_prequeue, _, _}, _) -> queue;
role_of(_, {rabbit_mirror_queue_slave, _, _}, _) -> mirror;
role_of(_, {osiris_writer, _, _}, _) -> stream_writer;
role_of(_, {osiris_replica, _, _}, _) -> stream_replica;
role_of(_, {rabbit_stream_reader, _, _}, _) -> stream_reader;
role_of(_, {rabbit_mqtt_reader, _, _}, _) -> mqtt_reader;
role_of(_, {rabbit_stomp_reader, _, _}, _) -> stomp_reader;
%% The Ra server of the metadata store, which replaced Mnesia.
role_of(rabbitmq_metadata, {ra_server_proc, _, _}, _) -> khepri;
role_of(_, {ra_server_proc, _, _}, _) -> ra_server;
role_of(_, {Module, _, _}, _) when Module =:= ra_log_wal; Module =:= ra_log_segment_writer -> ra_log;
role_of(_, {rabbit_msg_store, _, _}, _) -> msg_store;
role_of(_, {rabbit_msg_store_gc, _, _}, _) -> msg_store;
role_of(_, {rabbit_mgmt_db_cache, _, _}, _) -> mgmt_cache;
role_of(_, {rabbit_mgmt_metrics_collector, _, _}, _) -> mgmt_stats;
role_of(_, {rabbit_mgmt_metrics_gc, _, _}, _) -> mgmt_stats;
role_of(_, {Module, _, _}, _) when Module =:= cowboy_http; Module =:= cowboy_http2; Module =:= cowboy_clear; Module =:= cowboy_tls -> http;
role_of(_, {cowboy_stream_h, _, _}, _) -> http;
role_of(_, {tls_sender, _, _}, _) -> tls_sender;
role_of(_, {Module, _, _}, _) when Module =:= ssl_gen_statem; Module =:= tls_connection -> tls_connection;
role_of(_, {delegate, _, _}, _) -> delegate;
role_of(_, {mnesia_tm, _, _}, _) -> mnesia;
role_of(Name, Started, Ancestors) ->
    Text = atom_to_list(Name),
    case {Text, Started} of
        {"rabbit_mgmt" ++ _, _} -> mgmt_stats;
        {"mnesia" ++ _, _} -> mnesia;
        {_, {supervisor, _, _}} -> supervisor;
        {_, {supervisor2, _, _}} -> supervisor;
        {_, {proc_lib, init_p, 5}} -> role_by_ancestor(Ancestors);
        {_, {Module, _, _}} -> role_by_module(atom_to_list(Module), Ancestors)
    end.

role_by_module("cowboy" ++ _, _) -> http;
role_by_module("ranch" ++ _, _) -> listener;
role_by_module("rabbit_mgmt" ++ _, _) -> mgmt_stats;
role_by_module("ra_" ++ _, _) -> ra_log;
role_by_module("khepri" ++ _, _) -> khepri;
role_by_module("rabbit_shovel" ++ _, _) -> shovel;
role_by_module("rabbit_federation" ++ _, _) -> federation;
role_by_module("amqp_" ++ _, _) -> amqp_client;
role_by_module("amqp10_client" ++ _, _) -> amqp_client;
role_by_module(_, Ancestors) -> role_by_ancestor(Ancestors).

role_by_ancestor([Name | Rest]) when is_atom(Name) ->
    case atom_to_list(Name) of
        "rabbit_web_dispatch" ++ _ -> http;
        "rabbit_mgmt" ++ _ -> mgmt_stats;
        "osiris" ++ _ -> stream_writer;
        _ -> role_by_ancestor(Rest)
    end;
role_by_ancestor([_ | Rest]) -> role_by_ancestor(Rest);
role_by_ancestor(_) -> other.

%% A name for people: the registered name, or the queue, or another name that the process has set.
process_name(Pid) ->
    case is_pid(Pid) andalso node(Pid) =:= node() andalso process_info(Pid, [registered_name, dictionary]) of
        [{registered_name, Name}, _] when is_atom(Name) -> atom_to_binary(Name, utf8);
        [_, {dictionary, Dictionary}] ->
            case lists:keyfind(process_name, 1, Dictionary) of
                {_, {Kind, {resource, VHost, queue, Queue}}} when is_atom(Kind), is_binary(VHost), is_binary(Queue) -> Queue;
                {_, {_, Name}} when is_binary(Name) -> Name;
                %% Channels and their limiters: the connection's name and the channel's number.
                {_, {_, {Name, Number}}} when is_binary(Name), is_integer(Number) ->
                    <<Name/binary, " (", (integer_to_binary(Number))/binary, ")">>;
                _ -> name_by_connection(Pid, proplists:get_value('$initial_call', Dictionary))
            end;
        _ -> <<>>
    end.

name_by_connection(Pid, {_, _, _} = Started) ->
    case tls_name(Pid, Started) of
        <<>> -> served_connection(Pid, role(Pid));
        Name -> Name
    end;
name_by_connection(_, _) -> <<>>.

%% The name of the connection that a process in this role serves; <<>> for roles that serve none. It comes from the
%% broker's table, from the process's socket, or from the reader below the same supervisors.
served_connection(Pid, Role) ->
    Serving = [reader, writer, session, limiter, mqtt_reader, stomp_reader, stream_reader],
    case lists:member(Role, Serving) of
        true -> case own_connection(Pid) of <<>> -> connection_beside(above(Pid)); Name -> Name end;
        false -> <<>>
    end.

own_connection(Pid) ->
    case connection_name(Pid) of <<>> -> socket_name(Pid); Name -> Name end.

%% The nearest supervisors.
above(Pid) ->
    case process_info(Pid, dictionary) of
        {dictionary, Dictionary} -> lists:sublist(proplists:get_value('$ancestors', Dictionary, []), 4);
        _ -> []
    end.

%% The connection of a process below the nearest supervisor that has one. A supervisor with many children belongs to several
%% connections. Supervisors further up are read only if need be: it costs a node with many connections much.
connection_beside([]) -> <<>>;
connection_beside([Above | Rest]) ->
    Children = case is_pid(Above) andalso node(Above) =:= node() of true -> linked(Above); false -> [] end,
    case length(Children) =< 16 andalso first_connection(Children) of
        <<_, _/binary>> = Name -> Name;
        _ -> connection_beside(Rest)
    end.

first_connection([]) -> <<>>;
first_connection([Pid | Rest]) ->
    case own_connection(Pid) of <<>> -> first_connection(Rest); Name -> Name end.

%% The name that RabbitMQ gives to the connection of a socket, without its look-up of host names.
socket_name(Pid) ->
    case process_info(Pid, links) of
        {links, Links} ->
            Sockets = [Port || Port <- Links, is_port(Port), erlang:port_info(Port, name) =:= {name, "tcp_inet"}],
            case [{Peer, Own} || Socket <- Sockets, {ok, Peer} <- [inet:peername(Socket)], {ok, Own} <- [inet:sockname(Socket)]] of
                [{Peer, Own}] -> iolist_to_binary([end_name(Peer), " -> ", end_name(Own)]);
                _ -> <<>>
            end;
        _ -> <<>>
    end.

end_name({{0, 0, 0, 0, 0, 16#ffff, AB, CD}, Port}) -> end_name({{AB bsr 8, AB band 255, CD bsr 8, CD band 255}, Port});
end_name({Address, Port}) when tuple_size(Address) =:= 8 -> [$[, inet:ntoa(Address), $], $:, integer_to_list(Port)];
end_name({Address, Port}) when tuple_size(Address) =:= 4 -> [inet:ntoa(Address), $:, integer_to_list(Port)];
end_name(_) -> "socket".

%% The name of the broker's connection that a TLS process serves, if it serves one. TLS processes have no own name.
tls_name(Pid, {tls_sender, _, _}) -> connection_name(tls_user_of_sender(Pid));
tls_name(Pid, {Module, _, _}) when Module =:= ssl_gen_statem; Module =:= tls_connection -> connection_name(tls_user(Pid));
tls_name(_, _) -> <<>>.

%% The user of the TLS connection. The receiving process monitors it.
tls_user(Pid) ->
    case process_info(Pid, monitors) of
        {monitors, Watched} -> hd([User || {process, User} <- Watched, is_pid(User), node(User) =:= node()] ++ [none]);
        _ -> none
    end.

%% The sending process shares a supervisor with the receiving process only.
tls_user_of_sender(Pid) ->
    Receivers = [Other || Above <- linked(Pid), initial_call(Above) =:= {supervisor, tls_dyn_connection_sup, 1},
        Other <- linked(Above), role(Other) =:= tls_connection],
    case Receivers of [Receiver] -> tls_user(Receiver); _ -> none end.

linked(Pid) ->
    case process_info(Pid, links) of {links, Links} -> [Link || Link <- Links, is_pid(Link), node(Link) =:= node()]; _ -> [] end.

initial_call(Pid) ->
    case process_info(Pid, dictionary) of {dictionary, Dictionary} -> proplists:get_value('$initial_call', Dictionary); _ -> none end.

connection_name(Pid) ->
    try proplists:get_value(name, ets:lookup_element(connection_created, Pid, 2)) of
        Name when is_binary(Name) -> Name;
        _ -> <<>>
    catch error:badarg -> <<>> end.

local_pid(Text) ->
    try list_to_pid(binary_to_list(Text)) of
        Pid when node(Pid) =:= node() -> case is_process_alive(Pid) of true -> Pid; false -> none end;
        _ -> none
    catch error:badarg -> none end.
