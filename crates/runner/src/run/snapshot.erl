Text = fun(Term) -> unicode:characters_to_binary(io_lib:format("~0tp", [Term])) end,
Plain = fun({resource, _, _, Name}) -> Name;
           (Value) when is_integer(Value); is_boolean(Value); is_binary(Value) -> Value;
           (Value) -> Text(Value) end,
Object = fun(Pairs) -> maps:from_list([{Key, Plain(Value)} || {Key, Value} <- Pairs]) end,
Queues = [Object(rabbit_amqqueue:info(Queue, [name, type, durable, messages, memory]))
          || Queue <- rabbit_amqqueue:list()],
Bindings = [Object([{source, Source}, {destination, Destination}, {key, Key}])
            || {binding, Source, Key, Destination, _} <- rabbit_binding:list(<<"/">>)],
Settings = [vm_memory_high_watermark, vm_memory_high_watermark_paging_ratio, disk_free_limit,
            credit_flow_default_credit, channel_max, frame_max, heartbeat, tcp_listen_options,
            collect_statistics, collect_statistics_interval, queue_index_embed_msgs_below,
            msg_store_file_size_limit, classic_queue_default_version, quorum_cluster_size,
            msg_store_credit_disc_bound, quorum_commands_soft_limit, background_gc_enabled, consumer_timeout],
Environment = [{Key, Value} || {Key, Value} <- application:get_all_env(rabbit),
                               lists:member(Key, Settings)],
Facts = #{queues => Queues,
          bindings => Bindings,
          alarms => [Text(Alarm) || Alarm <- rabbit_alarm:get_alarms()],
          memory => Object(rabbit_vm:memory()),
          environment => maps:from_list([{Key, Text(Value)} || {Key, Value} <- Environment]),
          schedulers => erlang:system_info(schedulers_online),
          processes => erlang:system_info(process_count),
          otp => Text(erlang:system_info(otp_release))},
file:write_file("@FILE@", rabbit_json:encode(Facts))
