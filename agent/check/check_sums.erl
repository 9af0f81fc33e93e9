%% Consumers and messages by channel and by queue.
-module(check_sums).
-export([consumers/1, messages/1, sums_of/3, each_sums/4, each_consuming/3]).

%% {{consumers, Channel}, Count, WithoutAck, LeastPrefetch, Queues}, and {{consumers, Queue}, Count, Prefetch, Unlimited}:
%% the count has also those that wait for the single active one, Prefetch is the sum of the others, and Unlimited the number
%% of those without a limit. The row of a consumer has grown at its end. The fifth field of seven says whether it is active,
%% the sixth is then `up`; readers of streams are up and not active.
consumers(Sums) ->
    case ets:first(consumer_created) of
        '$end_of_table' -> none;
        Key ->
            [Row | _] = ets:lookup(consumer_created, Key) ++ [{}],
            tuple_size(Row) >= 4 andalso collect_consumers(tuple_size(Row), Sums)
    end.

collect_consumers(Size, Sums) ->
    {More, Active, Status} = case Size >= 7 of
        true -> {['$5', '$6' | lists:duplicate(Size - 6, '_')], '$5', '$6'};
        false -> {lists:duplicate(Size - 4, '_'), true, up}
    end,
    Head = list_to_tuple([{'$1', '$2', '_'}, '_', '$3', '$4' | More]),
    check_base:each_paced(consumer_created, [{Head, [], [{{'$1', '$2', '$3', '$4', {{Active, Status}}}}]}], fun ({Queue, Channel, IsAcked, Limited, State}, _) ->
        IsActive = State =:= {false, up} orelse element(1, State) =/= false,
        Prefetch = known_prefetch(Limited),
        {Limit, Without} = limit(IsActive, IsAcked, Prefetch),
        ets:update_counter(Sums, {consumers, Queue}, [{2, 1}, {3, Limit}, {4, Without}], {{consumers, Queue}, 0, 0, 0}),
        IsActive andalso ets:insert(Sums, with_consumer(ets:lookup(Sums, {consumers, Channel}), {Queue, Channel, IsAcked, Prefetch}))
    end, none).

%% Before RabbitMQ 4.0, the plugin for AMQP 1.0 consumes with the largest prefetch. The credit of its clients is the limit.
known_prefetch(65535) -> 0;
known_prefetch(Prefetch) -> Prefetch.

limit(false, _, _) -> {0, 0};
limit(true, true, Prefetch) when is_integer(Prefetch), Prefetch > 0 -> {Prefetch, 0};
limit(true, _, _) -> {0, 1}.

with_consumer([], {Queue, Channel, IsAcked, Prefetch}) ->
    {{consumers, Channel}, 1, without_ack(IsAcked), Prefetch, [Queue]};
with_consumer([{Key, Count, Without, Least, Queues}], {Queue, _, IsAcked, Prefetch}) ->
    More = case length(Queues) < 10 andalso not lists:member(Queue, Queues) of true -> [Queue | Queues]; false -> Queues end,
    {Key, Count + 1, Without + without_ack(IsAcked), least_prefetch(Least, Prefetch), More}.

without_ack(true) -> 0;
without_ack(_) -> 1.

%% 0 means no limit.
least_prefetch(0, Other) -> Other;
least_prefetch(One, 0) -> One;
least_prefetch(One, Other) -> min(One, Other).

%% Messages since the first snapshot: {{sums, Channel}, Published, Confirmed, Delivered, Acknowledged, Got, GotNothing} and
%% {{sums, Queue}, Published, 0, Delivered, Acknowledged, 0, 0}.
messages(#{base := Base, sums := Sums}) ->
    Add = fun (Key, More) -> add_messages(Sums, {sums, Key}, More) end,
    Rows = [{'$1', [], ['$1']}],
    check_base:each_paced(channel_exchange_metrics, Rows, fun (Row, _) ->
        {Channel, _} = element(1, Row),
        Add(Channel, [{2, check_base:grown(Base, Row, 2)}, {3, check_base:grown(Base, Row, 3)}])
    end, none),
    check_base:each_paced(channel_queue_exchange_metrics, Rows, fun (Row, _) ->
        {_, {Queue, _}} = element(1, Row),
        Add(Queue, [{2, check_base:grown(Base, Row, 2)}])
    end, none),
    %% get, get_no_ack, deliver, deliver_no_ack, redeliver, ack, get_empty
    check_base:each_paced(channel_queue_metrics, Rows, fun (Row, _) ->
        {Channel, Queue} = element(1, Row),
        [Got, GotUnacked, Delivered, DeliveredUnacked, _, Acknowledged, Nothing] = [check_base:grown(Base, Row, At) || At <- lists:seq(2, 8)],
        All = Got + GotUnacked + Delivered + DeliveredUnacked,
        Add(Channel, [{4, All}, {5, Acknowledged}, {6, Got + GotUnacked}, {7, Nothing}]),
        Add(Queue, [{4, All}, {5, Acknowledged}])
    end, none).

add_messages(Sums, Key, More) ->
    case [One || {_, Count} = One <- More, Count > 0] of
        [] -> ok;
        Some -> ets:update_counter(Sums, Key, Some, {Key, 0, 0, 0, 0, 0, 0})
    end.

%% The six sums of a channel or a queue; `unknown` if messages are not counted.
sums_of(_, _, false) -> unknown;
sums_of(Sums, Key, true) ->
    case ets:lookup(Sums, {sums, Key}) of
        [Row] -> tl(tuple_to_list(Row));
        [] -> [0, 0, 0, 0, 0, 0]
    end.

%% Calls Each(Key, Sums, Acc) for channels (`is_pid`) or queues (`is_tuple`) with messages.
each_sums(Sums, Kind, Each, Acc) ->
    Row = [{{{sums, '$1'}, '$2', '$3', '$4', '$5', '$6', '$7'}, [{Kind, '$1'}], [{{'$1', ['$2', '$3', '$4', '$5', '$6', '$7']}}]}],
    broker_tables:each_found(Sums, Row, fun ({Key, Counts}, In) -> Each(Key, Counts, In) end, Acc).

%% Calls Each(Channel, Consumers, Acc) for channels with consumers.
each_consuming(Sums, Each, Acc) ->
    Row = [{{{consumers, '$1'}, '$2', '_', '_', '_'}, [], [{{'$1', '$2'}}]}],
    broker_tables:each_found(Sums, Row, fun ({Channel, Count}, In) -> Each(Channel, Count, In) end, Acc).
