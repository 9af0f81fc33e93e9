%% The rows of `top`: the process, and the queue, connection or channel that it serves.
-module(top_rows).
-export([described/4, binaries/3, longest/1, late/2, registered_name/1, depth/1, unacknowledged/1, churn/0, churned/2]).

described(What, Best, Tables, Known) ->
    Prefetch = prefetch_counts(What, Best),
    [described_row(What, Row, {Tables, Prefetch}, Known) || Row <- Best].

described_row(What, {_, Pid, Key, {Reductions, In, Out, Memory, Mailbox}}, {Tables, Prefetch}, Known) ->
    Rates = Known =:= known andalso not is_stream(What, Key),
    Common = #{pid => Pid, reductions => Reductions, mailbox => Mailbox,
        memory_bytes => Memory + memory_queues:table_bytes(Key, Tables),
        binary_bytes => binaries(Pid, Key, Tables), current => current(Pid),
        in => rate(Rates, In), out => rate(Rates, Out)},
    maps:merge(Common, own(What, Pid, Key, Prefetch)).

%% A stream's own protocol has no channels.
is_stream(queues, Resource) ->
    [Queue | _] = ets:lookup(queue_table:queue_table(), Resource) ++ [none],
    Queue =/= none andalso apply(amqqueue, get_type, [Queue]) =:= rabbit_stream_queue;
is_stream(_, _) -> false.

rate(true, Value) -> Value;
rate(false, _) -> unknown.

current(Pid) ->
    case process_info(Pid, current_function) of {_, {_, _, _} = Function} -> Function; _ -> unknown end.

%% Bytes of the large binaries that the process refers to, each counted once; other processes may refer to them, too.
%% For a queue with tables: the part of all references that process and tables have.
binaries(Pid, Key, Tables) ->
    case process_info(Pid, binary) of
        {binary, Found} when is_map_key(Key, Tables) -> share_of_references(Found) + memory_queues:binary_bytes(Key, Tables);
        {binary, Found} -> lists:sum([Size || {_, Size, _} <- lists:usort(Found)]);
        undefined -> unknown
    end.

share_of_references(Found) -> round(lists:sum([Size / max(1, References) || {_, Size, References} <- Found])).

own(processes, Pid, _, _) -> #{role => roles:shown_role(Pid), name => roles:process_name(Pid)};
own(queues, _, {resource, VHost, queue, Name} = Resource, _) ->
    {Ready, Unacknowledged} = depth(Resource),
    #{name => Name, vhost => VHost, ready => Ready, unacknowledged => Unacknowledged};
own(connections, _, Pid, _) ->
    Infos = broker_tables:infos(connection_created, Pid),
    #{name => broker_tables:text(name, Infos), vhost => broker_tables:text(vhost, Infos), user => broker_tables:text(user, Infos),
      client => broker_tables:text(user_provided_name, Infos), protocol => broker_tables:protocol(proplists:get_value(protocol, Infos))};
own(channels, Pid, _, Prefetch) ->
    Infos = broker_tables:infos(channel_created, Pid),
    Connection = broker_tables:infos(connection_created, proplists:get_value(connection, Infos)),
    #{name => broker_tables:text(name, Infos), vhost => broker_tables:text(vhost, Infos), user => broker_tables:text(user, Infos),
      client => broker_tables:text(user_provided_name, Connection),
      unacknowledged => unacknowledged(Pid),
      prefetch => maps:get(Pid, Prefetch, unknown)}.

%% Ready and unacknowledged messages of a queue, from its latest row.
depth(Resource) ->
    case ets:lookup(queue_coarse_metrics, Resource) of
        [Row] -> {element(2, Row), element(3, Row)};
        [] -> {unknown, unknown}
    end.

%% Unacknowledged messages of a channel, from its latest row.
unacknowledged(Channel) ->
    proplists:get_value(messages_unacknowledged, broker_tables:infos(channel_metrics, Channel), unknown).

%% The largest prefetch of a channel's consumers, `#{Channel => Count}`; 0 (no limit) is the largest.
prefetch_counts(channels, [_ | _] = Best) ->
    Wanted = maps:from_list([{Pid, wanted} || {_, Pid, _, _} <- Best]),
    %% The row of a consumer has grown at its end.
    case ets:first(consumer_created) of
        '$end_of_table' -> #{};
        Key ->
            [Row | _] = ets:lookup(consumer_created, Key) ++ [{}],
            collected_prefetch(tuple_size(Row), Wanted)
    end;
prefetch_counts(_, _) -> #{}.

collected_prefetch(Size, Wanted) when Size >= 4 ->
    Head = list_to_tuple([{'_', '$1', '_'}, '_', '_', '$2' | lists:duplicate(Size - 4, '_')]),
    broker_tables:each_found(consumer_created, [{Head, [], [{{'$1', '$2'}}]}], fun ({Channel, Count}, Found) ->
        case is_map_key(Channel, Wanted) andalso is_integer(Count) of
            true -> maps:update_with(Channel, fun (Other) -> larger_prefetch(Other, Count) end, Count, Found);
            false -> Found
        end
    end, #{});
collected_prefetch(_, _) -> #{}.

larger_prefetch(One, Other) when One =:= 0; Other =:= 0 -> 0;
larger_prefetch(One, Other) -> max(One, Other).

%% The candidate with the most messages in its mailbox, if these are many.
longest({Mailbox, Pid}) when Mailbox >= 1000 ->
    #{pid => Pid, mailbox => Mailbox, name => roles:process_name(Pid), role => roles:shown_role(Pid)};
longest(_) -> none.

%% Processes that answer late repeatedly, the latest first, at most three: {Pid, Name, Microseconds}. Any process may be
%% late once.
late(Before, After) ->
    Latest = lists:sublist(lists:reverse(lists:sort([{Took, Pid} || {Pid, Took} <- maps:to_list(maps:merge(Before, After))])), 3),
    [{Pid, registered_name(Pid), Took} || {Took, Pid} <- Latest, is_late_again(Pid, 5, 0)].

is_late_again(_, _, 2) -> true;
is_late_again(_, 0, _) -> false;
is_late_again(Pid, Times, Late) ->
    timer:sleep(7),
    Began = erlang:monotonic_time(microsecond),
    Asked = spawn_monitor(fun () -> process_info(Pid, reductions) end),
    Took = answer_time(Asked, Began),
    is_late_again(Pid, Times - 1, case Took > 10000 of true -> Late + 1; false -> Late end).

answer_time({Process, Monitor}, Began) ->
    receive {'DOWN', Monitor, process, _, _} -> ok
    after 300 ->
        exit(Process, kill),
        demonitor(Monitor, [flush])
    end,
    erlang:monotonic_time(microsecond) - Began.

%% The name of a process that does not answer.
registered_name(Pid) ->
    case [Name || Name <- registered(), whereis(Name) =:= Pid] of
        [Name | _] -> atom_to_binary(Name, utf8);
        [] -> <<>>
    end.

%% Connections and channels that were opened and closed since the node started: {Opened, Closed, Opened, Closed}.
churn() ->
    case ets:info(connection_churn_metrics, size) =/= undefined andalso ets:lookup(connection_churn_metrics, node()) of
        [Row] when tuple_size(Row) >= 5 -> {element(2, Row), element(3, Row), element(4, Row), element(5, Row)};
        _ -> unknown
    end.

churned({A0, B0, C0, D0}, {A, B, C, D}) ->
    #{connections_opened => A - A0, connections_closed => B - B0, channels_opened => C - C0, channels_closed => D - D0};
churned(_, _) -> unknown.
