%% Finds the processes, queues, connections or channels that use most of a resource, and the use of the schedulers.
%%
%% A small agent (see README.md). Two snapshots are taken and compared on the node. The first is kept in a table of
%% the request's process, with one small row for each candidate; of the second only the first rows are kept. All
%% of it is freed with the request.
-module(rabbitscope_top).
-export([start/3, cleanup/1]).

%% ---- The agent ----

start(Controller, Keeper, Options) ->
    Words = maps:get(max_heap_bytes, Options) div erlang:system_info(wordsize),
    spawn_opt(fun () ->
        process_flag(trap_exit, true),
        agent(Controller, Keeper, Words, none)
    end, [{message_queue_data, off_heap}]).

%% One request at a time: {Worker, Ref, Armed}.
agent(Controller, Keeper, Words, Now) ->
    receive
        {request, Ref, top, Args} when Now =:= none ->
            Armed = arm(Keeper),
            Limit = #{size => Words, kill => true, error_logger => false},
            Worker = spawn_opt(fun () -> Controller ! {rabbitscope, Ref, {done, top(Args)}} end,
                [link, {max_heap_size, Limit}]),
            agent(Controller, Keeper, Words, {Worker, Ref, Armed});
        {'EXIT', From, Reason} when From =:= element(1, Now) ->
            {_, Ref, Armed} = Now,
            cleanup([Armed]),
            Keeper ! {armed, []},
            Reason =:= normal orelse (Controller ! {rabbitscope, Ref, {error, died, why(Reason)}}),
            agent(Controller, Keeper, Words, none);
        {cancel, Ref} when Ref =:= element(2, Now) ->
            exit(element(1, Now), kill),
            agent(Controller, Keeper, Words, Now);
        {'EXIT', From, Reason} when From =:= Keeper; Reason =:= shutdown ->
            Now =:= none orelse cleanup([element(3, Now)]);
        _ -> agent(Controller, Keeper, Words, Now)
    end.

%% Microstate accounting is one switch of the node. If somebody else has switched it on, it stays on.
arm(Keeper) ->
    Keeper ! {armed, [microstates]},
    case erlang:system_flag(microstate_accounting, true) of
        false -> microstates;
        true -> Keeper ! {armed, []}, none
    end.

cleanup(Armed) ->
    lists:member(microstates, Armed) andalso erlang:system_flag(microstate_accounting, false).

why(killed) -> <<"the two snapshots needed more memory on the node than they may have">>;
why({Reason, [{M, F, _, _} | _]}) -> unicode:characters_to_binary(io_lib:format("~tp in ~tp:~tp", [Reason, M, F]));
why(_) -> <<"the snapshots failed on the node">>.

%% What: processes, queues, connections, channels. Sort: cpu, memory, mailbox, binaries, in, out.
top(#{what := What, sort := Sort, interval_ms := IntervalMs, limit := Limit}) ->
    %% The VM counts while any process has this flag set; ours ends with this process.
    erlang:system_flag(scheduler_wall_time, true),
    Before = ets:new(before, [set, private]),
    Schedulers = erlang:statistics(scheduler_wall_time),
    Microstates = erlang:statistics(microstate_accounting),
    Start = erlang:monotonic_time(microsecond),
    Count = remember(What, Before),
    timer:sleep(IntervalMs),
    ElapsedUs = erlang:monotonic_time(microsecond) - Start,
    Best = best(What, Sort, Before, Limit),
    Statistics = environment(collect_statistics_interval, 5000),
    Rates = rates(What, IntervalMs, Statistics),
    #{rows => [described(What, One, Rates) || One <- Best],
      candidates => Count,
      elapsed_us => ElapsedUs,
      statistics_ms => Statistics,
      rates => Rates,
      schedulers => use_of_schedulers(Schedulers, erlang:statistics(scheduler_wall_time)),
      microstates => microstates(Microstates, erlang:statistics(microstate_accounting), ElapsedUs),
      online => erlang:system_info(schedulers_online),
      run_queue => erlang:statistics(run_queue),
      memory_bytes => erlang:memory(total)}.

environment(Key, Default) ->
    case application:get_env(rabbit, Key) of {ok, Value} -> Value; undefined -> Default end.

%% Whether the columns in and out count all messages: `known`, or the reason why not. Channels write the counters,
%% once in each statistics interval, on the node of the channel. Messages through channels on other nodes, or
%% through a protocol without channels, are not counted.
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

%% Since 3.12 MQTT, and since 4.0 AMQP 1.0, are served without channels.
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

%% ---- Snapshots ----

%% All candidates, each with the process that does its work. For a connection whose protocol a plugin serves
%% (MQTT before 3.12, AMQP 1.0 before 4.0) the tables have a process between plugin and broker, which does next
%% to nothing.
candidates(connections, {_, Serving}, Each, Acc) ->
    broker_tables:each(connections, fun (Pid, _, In) -> Each(maps:get(Pid, Serving, Pid), Pid, In) end, Acc);
candidates(What, _, Each, Acc) -> broker_tables:each(What, Each, Acc).

%% A row is {Pid, Reductions, In, Out}.
remember(What, Table) ->
    Traffic = traffic(What),
    candidates(What, Traffic, fun (Pid, Key, Count) ->
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
    Best = candidates(What, Traffic, fun (Pid, Key, Found) ->
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

%% {Reductions, In, Out} of the interval, and {Memory, Mailbox} now. All reductions of a new process are in the
%% interval.
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

%% Bytes of the large binaries that the process refers to, each counted once. Other processes may refer to them, too.
binaries(Pid) ->
    case process_info(Pid, binary) of
        {binary, Found} -> lists:sum([Size || {_, Size, _} <- lists:usort(Found)]);
        undefined -> unknown
    end.

%% ---- Messages and bytes ----

%% In and out by pid (channels) or name (queues), or the socket by pid (connections).
traffic(processes) -> none;
traffic(connections) ->
    Ports = maps:from_list([{Pid, Port} || Port <- erlang:ports(),
        {name, "tcp_inet"} <- [erlang:port_info(Port, name)],
        {connected, Pid} <- [erlang:port_info(Port, connected)]]),
    {Ports, serving(Ports)};
traffic(What) ->
    Sums = ets:new(traffic, [set, private]),
    Add = fun (Key, Position, More) -> ets:update_counter(Sums, Key, {Position, More}, {Key, 0, 0}) end,
    published(What, Add),
    broker_tables:each_found(channel_queue_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {Channel, Queue} = element(1, Row),
        %% get, get_no_ack, deliver, deliver_no_ack
        Add(key(What, Channel, Queue), 3, element(2, Row) + element(3, Row) + element(4, Row) + element(5, Row))
    end, none),
    Sums.

%% The process that owns the socket, for connections that a plugin serves.
serving(Ports) ->
    Direct = broker_tables:each(connections, fun (Pid, _, Found) ->
        Infos = broker_tables:infos(connection_created, Pid),
        case proplists:get_value(type, Infos) of
            direct -> [{Pid, {proplists:get_value(peer_host, Infos), proplists:get_value(peer_port, Infos)}} | Found];
            _ -> Found
        end
    end, []),
    Peers = case Direct of
        [] -> #{};
        _ -> maps:from_list([{Peer, Pid} || {Pid, Port} <- maps:to_list(Ports), {ok, Peer} <- [inet:peername(Port)], is_not_tls(Pid)])
    end,
    maps:from_list([{Pid, maps:get(Peer, Peers)} || {Pid, Peer} <- Direct, is_map_key(Peer, Peers)]).

%% The socket of a TLS connection belongs to a process of TLS, which does not serve the protocol in it.
is_not_tls(Pid) ->
    case process_info(Pid, dictionary) of
        {_, Dictionary} ->
            case lists:keyfind('$initial_call', 1, Dictionary) of
                {_, {Module, _, _}} -> not lists:prefix("tls_", atom_to_list(Module)) andalso Module =/= ssl_gen_statem;
                _ -> true
            end;
        undefined -> false
    end.

published(queues, Add) ->
    broker_tables:each_found(channel_queue_exchange_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {_, {Queue, _}} = element(1, Row),
        Add(Queue, 2, element(2, Row))
    end, none);
published(channels, Add) ->
    broker_tables:each_found(channel_exchange_metrics, [{'$1', [], ['$1']}], fun (Row, _) ->
        {Channel, _} = element(1, Row),
        Add(Channel, 2, element(2, Row))
    end, none).

key(queues, _, Queue) -> Queue;
key(channels, Channel, _) -> Channel.

traffic_of(processes, _, _, _) -> {unknown, unknown};
traffic_of(connections, Pid, _, {Ports, _}) ->
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

%% ---- Rows ----

described(What, {_, Pid, Key, {Reductions, In, Out, Memory, Mailbox}}, Known) ->
    Rates = Known =:= known andalso not is_stream(What, Key),
    Common = #{pid => Pid, reductions => Reductions, memory_bytes => Memory, mailbox => Mailbox,
        binary_bytes => binaries(Pid), current => current(Pid),
        in => rate(Rates, In), out => rate(Rates, Out)},
    maps:merge(Common, own(What, Pid, Key)).

%% A stream's own protocol has no channels.
is_stream(queues, Resource) ->
    [Queue | _] = ets:lookup(queue_table:queue_table(), Resource) ++ [none],
    Queue =/= none andalso apply(amqqueue, get_type, [Queue]) =:= rabbit_stream_queue;
is_stream(_, _) -> false.

rate(true, Value) -> Value;
rate(false, _) -> unknown.

current(Pid) ->
    case process_info(Pid, current_function) of {_, {_, _, _} = Function} -> Function; _ -> unknown end.

own(processes, Pid, _) -> #{role => roles:shown_role(Pid), name => roles:process_name(Pid)};
own(queues, _, {resource, VHost, queue, Name} = Resource) ->
    {Ready, Unacknowledged} = case ets:lookup(queue_coarse_metrics, Resource) of
        [Row] -> {element(2, Row), element(3, Row)};
        [] -> {unknown, unknown}
    end,
    #{name => Name, vhost => VHost, ready => Ready, unacknowledged => Unacknowledged};
own(connections, _, Pid) ->
    Infos = broker_tables:infos(connection_created, Pid),
    #{name => broker_tables:text(name, Infos), vhost => broker_tables:text(vhost, Infos), user => broker_tables:text(user, Infos),
      protocol => protocol(proplists:get_value(protocol, Infos))};
own(channels, Pid, _) ->
    Infos = broker_tables:infos(channel_created, Pid),
    #{name => broker_tables:text(name, Infos), vhost => broker_tables:text(vhost, Infos), user => broker_tables:text(user, Infos)}.

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

%% Time of all threads of each type in each state during the interval, in the VM's own unit. `in_part` if somebody
%% else has switched the accounting off meanwhile.
microstates(Before, After, ElapsedUs) when is_list(Before), is_list(After) ->
    Sums = microstates(Before, After),
    Counted = lists:sum(maps:values(maps:get(scheduler, Sums, #{}))),
    Interval = erlang:convert_time_unit(ElapsedUs, microsecond, perf_counter),
    Threads = length([Id || #{type := scheduler, id := Id} <- After]),
    case Counted * 100 < Interval * Threads * 90 of true -> in_part; false -> Sums end;
microstates(_, _, _) -> in_part.

microstates(Before, After) ->
    Earlier = maps:from_list([{{Type, Id}, Counters} || #{type := Type, id := Id, counters := Counters} <- Before]),
    lists:foldl(fun (#{type := Type, id := Id, counters := Counters}, Sums) ->
        Was = maps:get({Type, Id}, Earlier, #{}),
        More = maps:map(fun (State, Count) -> max(0, Count - maps:get(State, Was, 0)) end, Counters),
        Sum = maps:get(Type, Sums, #{}),
        Sums#{Type => maps:map(fun (State, Count) -> Count + maps:get(State, Sum, 0) end, More)}
    end, #{}, After).
