%% The processes, queues, connections and channels that do or hold most.
%%
%% Functions only; followed by roles.erl, which is put behind this. Two snapshots are taken on the node
%% and compared there. The first is kept in a table of the calling process, one small row for each
%% candidate; of the second only the best are kept. Everything goes away with the call.
-module(rabbitscope_top).
-export([top/4]).

%% What: processes, queues, connections, channels. Sort: cpu, memory, mailbox, binaries, in, out.
top(What, Sort, IntervalMs, Limit) ->
    %% 128 MiB; beyond that the node is worth more than the answer.
    process_flag(max_heap_size, #{size => 16777216, kill => true, error_logger => false}),
    %% Counted by the VM for as long as somebody wants it, ends with this process.
    erlang:system_flag(scheduler_wall_time, true),
    Before = ets:new(before, [set, private]),
    Schedulers = erlang:statistics(scheduler_wall_time),
    Start = erlang:monotonic_time(microsecond),
    Count = remember(What, Before),
    timer:sleep(IntervalMs),
    ElapsedUs = erlang:monotonic_time(microsecond) - Start,
    Best = best(What, Sort, Before, Limit),
    Statistics = environment(collect_statistics_interval, 5000),
    %% Counters of messages are written once in this time; over less they say nothing.
    Known = environment(collect_statistics, none) =/= none andalso IntervalMs >= Statistics,
    #{rows => [described(What, One, Known) || One <- Best],
      candidates => Count,
      elapsed_us => ElapsedUs,
      statistics_ms => Statistics,
      rates => What =:= connections orelse Known,
      schedulers => use_of_schedulers(Schedulers, erlang:statistics(scheduler_wall_time)),
      online => erlang:system_info(schedulers_online),
      run_queue => erlang:statistics(run_queue),
      memory_bytes => erlang:memory(total)}.

environment(Key, Default) ->
    case application:get_env(rabbit, Key) of {ok, Value} -> Value; undefined -> Default end.

%% ---- Who is looked at ----

%% Calls Each(Pid, Key, Acc) for everybody.
each(processes, Each, Acc) ->
    lists:foldl(fun (Pid, In) -> Each(Pid, none, In) end, Acc, processes() -- [self()]);
each(queues, Each, Acc) ->
    Fields = apply(amqqueue, fields, []),
    Variables = [{name, '$1'}, {pid, '$2'}],
    Head = list_to_tuple([amqqueue | [proplists:get_value(Field, Variables, '_') || Field <- Fields]]),
    Table = hd([Table || Table <- [rabbit_khepri_queue, rabbit_queue], ets:info(Table, size) =/= undefined]),
    in_pieces(Table, [{Head, [], [{{'$2', '$1'}}]}], fun ({Process, Name}, In) ->
        case local(Process) of
            none -> In;
            Pid -> Each(Pid, Name, In)
        end
    end, Acc);
each(connections, Each, Acc) -> created(connection_created, Each, Acc);
each(channels, Each, Acc) -> created(channel_created, Each, Acc).

created(Table, Each, Acc) ->
    in_pieces(Table, [{{'$1', '_'}, [], ['$1']}], fun (Pid, In) -> Each(Pid, none, In) end, Acc).

in_pieces(Table, Pattern, Each, Acc) ->
    ets:safe_fixtable(Table, true),
    try in_pieces(ets:select(Table, Pattern, 300), Each, Acc)
    after ets:safe_fixtable(Table, false)
    end.

in_pieces('$end_of_table', _, Acc) -> Acc;
in_pieces({Found, Next}, Each, Acc) ->
    in_pieces(ets:select(Next), Each, lists:foldl(Each, Acc, Found)).

%% A quorum queue has a registered name in place of a pid.
local(Pid) when is_pid(Pid), node(Pid) =:= node() -> Pid;
local({Name, Node}) when Node =:= node() ->
    case whereis(Name) of undefined -> none; Pid -> Pid end;
local(_) -> none.

%% ---- Snapshots ----

%% A row is {Pid, Reductions, In, Out}.
remember(What, Table) ->
    Traffic = traffic(What),
    each(What, fun (Pid, Key, Count) ->
        case process_info(Pid, reductions) of
            {reductions, Reductions} ->
                {In, Out} = traffic_of(What, Pid, Key, Traffic),
                ets:insert(Table, {Pid, Reductions, In, Out}),
                Count + 1;
            undefined -> Count
        end
    end, 0).

best(What, Sort, Before, Limit) ->
    Traffic = traffic(What),
    Best = each(What, fun (Pid, Key, Found) ->
        case now_and_before(What, Pid, Key, Before, Traffic) of
            gone -> Found;
            Row -> keep({value(Sort, Pid, Row), Pid, Key, Row}, Found, Limit)
        end
    end, gb_sets:empty()),
    lists:reverse(gb_sets:to_list(Best)).

keep(One, Found, Limit) ->
    More = gb_sets:add(One, Found),
    case gb_sets:size(More) > Limit of
        true -> element(2, gb_sets:take_smallest(More));
        false -> More
    end.

%% {Reductions, In, Out} of the interval, {Memory, Mailbox} now. Who is new has done all of it now.
now_and_before(What, Pid, Key, Before, Traffic) ->
    case process_info(Pid, [reductions, memory, message_queue_len]) of
        [{_, Reductions}, {_, Memory}, {_, Mailbox}] ->
            {In, Out} = traffic_of(What, Pid, Key, Traffic),
            case ets:lookup(Before, Pid) of
                [{_, Earlier, In0, Out0}] ->
                    {Reductions - Earlier, less(In, In0), less(Out, Out0), Memory, Mailbox};
                [] -> {Reductions, unknown, unknown, Memory, Mailbox}
            end;
        undefined -> gone
    end.

less(unknown, _) -> unknown;
less(_, unknown) -> unknown;
less(Now, Before) -> max(0, Now - Before).

value(cpu, _, Row) -> element(1, Row);
value(in, _, Row) -> number(element(2, Row));
value(out, _, Row) -> number(element(3, Row));
value(memory, _, Row) -> element(4, Row);
value(mailbox, _, Row) -> element(5, Row);
value(binaries, Pid, _) -> number(binaries(Pid)).

number(unknown) -> -1;
number(Value) -> Value.

%% Large binaries that the process refers to, each counted once. Others may refer to them too.
binaries(Pid) ->
    case process_info(Pid, binary) of
        {binary, Found} -> lists:sum([Size || {_, Size, _} <- lists:usort(Found)]);
        undefined -> unknown
    end.

%% ---- Messages and bytes ----

%% In and out by pid (channels) or name (queues), or the socket by pid (connections).
traffic(processes) -> none;
traffic(connections) ->
    maps:from_list([{Pid, Port} || Port <- erlang:ports(),
        {name, "tcp_inet"} <- [erlang:port_info(Port, name)],
        {connected, Pid} <- [erlang:port_info(Port, connected)]]);
traffic(What) ->
    Sums = ets:new(traffic, [set, private]),
    Add = fun (Key, Position, More) -> ets:update_counter(Sums, Key, {Position, More}, {Key, 0, 0}) end,
    published(What, Add),
    in_pieces(channel_queue_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {Channel, Queue} = element(1, Row),
        %% get, get_no_ack, deliver, deliver_no_ack
        Add(key(What, Channel, Queue), 3, element(2, Row) + element(3, Row) + element(4, Row) + element(5, Row))
    end, none),
    Sums.

published(queues, Add) ->
    in_pieces(channel_queue_exchange_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {_, {Queue, _}} = element(1, Row),
        Add(Queue, 2, element(2, Row))
    end, none);
published(channels, Add) ->
    in_pieces(channel_exchange_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {Channel, _} = element(1, Row),
        Add(Channel, 2, element(2, Row))
    end, none).

key(queues, _, Queue) -> Queue;
key(channels, Channel, _) -> Channel.

traffic_of(processes, _, _, _) -> {unknown, unknown};
traffic_of(connections, Pid, _, Ports) ->
    %% The socket of a TLS connection belongs to another process.
    case Ports of
        #{Pid := Port} ->
            case inet:getstat(Port, [recv_oct, send_oct]) of
                {ok, [{_, In}, {_, Out}]} -> {In, Out};
                _ -> {unknown, unknown}
            end;
        _ -> {unknown, unknown}
    end;
traffic_of(queues, _, Name, Sums) -> summed(Name, Sums);
traffic_of(channels, Pid, _, Sums) -> summed(Pid, Sums).

summed(Key, Sums) ->
    case ets:lookup(Sums, Key) of
        [{_, In, Out}] -> {In, Out};
        [] -> {0, 0}
    end.

%% ---- What is said of the best ----

described(What, {_, Pid, Key, {Reductions, In, Out, Memory, Mailbox}}, Known) ->
    Rates = What =:= connections orelse Known,
    Common = #{pid => Pid, reductions => Reductions, memory_bytes => Memory, mailbox => Mailbox,
        binary_bytes => binaries(Pid), current => current(Pid),
        in => rate(Rates, In), out => rate(Rates, Out)},
    maps:merge(Common, own(What, Pid, Key)).

rate(true, Value) -> Value;
rate(false, _) -> unknown.

current(Pid) ->
    case process_info(Pid, current_function) of {_, {_, _, _} = Function} -> Function; _ -> unknown end.

own(processes, Pid, _) -> #{role => role(Pid), name => process_name(Pid)};
own(queues, _, {resource, VHost, queue, Name} = Resource) ->
    {Ready, Unacknowledged} = case ets:lookup(queue_coarse_metrics, Resource) of
        [Row] -> {element(2, Row), element(3, Row)};
        [] -> {unknown, unknown}
    end,
    #{name => Name, vhost => VHost, ready => Ready, unacknowledged => Unacknowledged};
own(connections, Pid, _) ->
    Infos = infos(connection_created, Pid),
    #{name => text(name, Infos), vhost => text(vhost, Infos), user => text(user, Infos),
      protocol => protocol(proplists:get_value(protocol, Infos))};
own(channels, Pid, _) ->
    Infos = infos(channel_created, Pid),
    #{name => text(name, Infos), vhost => text(vhost, Infos), user => text(user, Infos)}.

infos(Table, Pid) -> try ets:lookup_element(Table, Pid, 2) catch error:badarg -> [] end.

text(Key, Infos) ->
    case proplists:get_value(Key, Infos) of
        Text when is_binary(Text) -> Text;
        _ -> <<>>
    end.

protocol({Major, Minor, Patch}) -> iolist_to_binary(io_lib:format("AMQP ~p-~p-~p", [Major, Minor, Patch]));
protocol({Name, Version}) -> iolist_to_binary(io_lib:format("~tp ~tp", [Name, Version]));
protocol(Other) -> iolist_to_binary(io_lib:format("~tp", [Other])).

%% Share of the interval in which each scheduler worked, in thousandths; normal ones, then those for
%% long computations.
use_of_schedulers(Before, After) when is_list(Before), is_list(After) ->
    Pairs = lists:zip(lists:sort(Before), lists:sort(After)),
    [{Id, 1000 * (Active - Active0) div max(1, Total - Total0)}
        || {{Id, Active0, Total0}, {Id, Active, Total}} <- Pairs];
use_of_schedulers(_, _) -> [].
