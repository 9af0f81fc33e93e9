%% Figures of the whole broker. Each is read for itself, and is missing if this release does not have it.
-module(check_broker).
-export([broker_counters/0, broker_figures/1, broker_facts/0]).

%% Counters since the node started.
broker_counters() ->
    #{at_us => erlang:monotonic_time(microsecond), counters => check_parts:attempted(fun message_counters:counters/0), churn => check_parts:attempted(fun churn_counters/0)}.

%% Opened and closed connections, opened and closed channels, declared, created and deleted queues.
churn_counters() ->
    [Row] = ets:lookup(connection_churn_metrics, node()),
    lists:sublist(tl(tuple_to_list(Row)), 7).

broker_figures(#{at_us := Since, counters := Counters, churn := Churn}) ->
    Now = broker_counters(),
    #{elapsed_us => max(1, maps:get(at_us, Now) - Since),
        counters => counted(Counters, maps:get(counters, Now)),
        churn => counted(Churn, maps:get(churn, Now))}.

counted(Before, After) when is_map(Before), is_map(After) ->
    maps:map(fun (Key, Count) -> max(0, Count - maps:get(Key, Before, 0)) end, After);
counted([_ | _] = Before, After) when length(Before) =:= length(After) ->
    [max(0, Count - Was) || {Was, Count} <- lists:zip(Before, After)];
counted(_, _) -> unknown.

broker_facts() ->
    check_parts:known_parts([
        {version, fun () -> unicode:characters_to_binary(apply(rabbit_misc, version, [])) end},
        {otp, fun () -> list_to_binary(erlang:system_info(otp_release)) end},
        {nodes, fun queue_table:running_nodes/0},
        {connections, fun () -> ets:info(connection_created, size) end},
        {channels, fun () -> ets:info(channel_created, size) end},
        {consumers, fun () -> ets:info(consumer_created, size) end},
        {memory_kinds, fun erlang:memory/0},
        {memory, fun memory_against_limit/0},
        {disk_free, fun () -> apply(rabbit_disk_monitor, get_disk_free, []) end},
        {disk_limit, fun () -> apply(rabbit_disk_monitor, get_disk_free_limit, []) end},
        {limits, fun limits:counts/0},
        {alarms, fun all_alarms/0},
        {mirroring, fun mirroring_policies/0},
        {traced, fun () -> [VHost || VHost <- application:get_env(rabbit, trace_vhosts, []), is_binary(VHost)] end}
    ]).

%% {Used, Limit} in bytes, as the monitor compares them.
memory_against_limit() ->
    case gen_server:call(vm_memory_monitor, get_cached_process_memory_and_limit, 500) of
        {Used, Limit} when is_number(Used), is_number(Limit) -> {trunc(Used), trunc(Limit)};
        _ -> unknown
    end.

%% Alarms of the cluster: {Alarm, Node}.
all_alarms() ->
    Raised = gen_event:call(rabbit_alarm, rabbit_alarm, get_alarms, 500),
    lists:usort([{What, Node} || {{resource_limit, What, Node}, _} <- Raised]
        ++ [{file_descriptors, node()} || {file_descriptor_limit, _} <- Raised]).

%% Classic queues have no mirrors since 4.0.
mirroring_policies() ->
    case code:which(rabbit_mirror_queue_slave) of
        non_existing -> [];
        _ ->
            [{proplists:get_value(vhost, Policy), proplists:get_value(name, Policy)} || Policy <- apply(rabbit_policy, list, []),
                lists:keymember(<<"ha-mode">>, 1, proplists:get_value(definition, Policy, []))]
    end.
