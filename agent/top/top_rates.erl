%% Test whether the counters of messages cover all messages of an interval.
-module(top_rates).
-export([rates/3, environment/2]).

environment(Key, Default) ->
    case application:get_env(rabbit, Key) of {ok, Value} -> Value; undefined -> Default end.

%% Returns `known` if the columns in and out count all messages, otherwise the reason. Channels write the counters
%% once in each statistics interval, on the node of the channel. So messages through channels on other nodes, or
%% through a protocol without channels, do not count.
rates(What, _, _) when What =:= connections; What =:= processes -> known;
rates(What, IntervalMs, Statistics) ->
    Written = environment(collect_statistics, none) =/= none andalso IntervalMs >= Statistics,
    Alone = What =:= channels orelse queue_table:running_nodes() =:= [node()],
    if
        not Written -> seldom;
        not Alone -> other_nodes;
        What =:= channels -> known;
        true -> case are_all_on_channels() of true -> known; false -> other_protocols end
    end.

%% MQTT since 3.12, and AMQP 1.0 since 4.0, have no channels.
are_all_on_channels() ->
    Native = erlang:module_loaded(rabbit_mqtt_qos0_queue) orelse erlang:module_loaded(rabbit_amqp_session),
    not Native orelse broker_tables:each(connections, fun (Pid, _, All) ->
        All andalso is_on_channels(proplists:get_value(protocol, broker_tables:infos(connection_created, Pid)))
    end, true).

is_on_channels({0, _, _}) -> true;
is_on_channels({Name, _}) when is_atom(Name); is_binary(Name) ->
    %% Clients of the stream protocol publish to streams only, whose rates are unknown anyway.
    lists:member(iolist_to_binary(io_lib:format("~ts", [Name])), [<<"Direct">>, <<"STOMP">>, <<"Web STOMP">>, <<"stream">>]);
is_on_channels(_) -> false.
