%% Settings that findings consult. Only settings of this list are read: none can hold a password or an address.
-module(check_settings).
-export([settings/0]).

settings() -> [{App, Key, setting_text(Value)} || {App, Key} <- readable(), {ok, Value} <- [application:get_env(App, Key)]].

setting_text(Value) -> unicode:characters_to_binary(io_lib:format("~tP", [Value, 30])).

readable() ->
    [{rabbit, Key} || Key <- [collect_statistics, collect_statistics_interval, vm_memory_high_watermark,
        vm_memory_high_watermark_paging_ratio, vm_memory_calculation_strategy, disk_free_limit, credit_flow_default_credit,
        msg_store_credit_disc_bound, msg_store_file_size_limit, quorum_commands_soft_limit, quorum_tick_interval,
        stream_tick_interval, background_gc_enabled, background_gc_target_interval, queue_index_embed_msgs_below,
        classic_queue_default_version, queue_master_locator, queue_leader_locator, default_consumer_prefetch,
        consumer_timeout, channel_max, heartbeat, writer_gc_threshold, hipe_compile, mirroring_flow_control,
        cluster_partition_handling, channel_tick_interval, default_queue_type]] ++
    [{rabbitmq_prometheus, return_per_object_metrics}, {rabbitmq_management, rates_mode}, {rabbitmq_management, disable_management_stats},
        {rabbitmq_management_agent, rates_mode}, {rabbitmq_management_agent, disable_metrics_collector},
        {ra, wal_max_size_bytes}, {ra, wal_max_batch_size}, {ra, wal_write_strategy}, {ra, wal_sync_method},
        {ra, wal_compute_checksums}, {kernel, net_ticktime}].
