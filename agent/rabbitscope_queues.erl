%% Reads queues, from the tables that the broker fills or from the queues themselves.
%%
%% A small agent (see README.md): it waits for requests, gives each a process of its own, and has nothing
%% to clean up. It reads tables in pieces, so that the memory of a request does not grow with the number of
%% queues. It sends rows as it finds them: if the node cannot send, the request waits.
-module(rabbitscope_queues).
-export([start/3, cleanup/1]).

%% ---- The agent ----

%% The agent runs at high priority, because it does almost no work itself. At normal priority a request to a busy
%% node would spend its time waiting for its turn. The process of a request has high priority only if the program
%% wants it (`urgent`). The program limits the time that such requests take.
start(Controller, Keeper, Options) ->
    Words = maps:get(max_heap_bytes, Options) div erlang:system_info(wordsize),
    spawn_opt(fun () ->
        process_flag(trap_exit, true),
        agent(Controller, Keeper, Words, #{})
    end, [{priority, high}, {message_queue_data, off_heap}]).

cleanup(_) -> ok.

agent(Controller, Keeper, Words, Workers) ->
    receive
        {request, Ref, Name, Args} ->
            Worker = spawn_opt(fun () -> run_request({Controller, Ref}, Name, Args) end, options(Words, Args)),
            agent(Controller, Keeper, Words, Workers#{Worker => Ref});
        {cancel, Ref} ->
            [exit(Worker, kill) || {Worker, Of} <- maps:to_list(Workers), Of =:= Ref],
            agent(Controller, Keeper, Words, Workers);
        {'EXIT', Worker, Reason} when is_map_key(Worker, Workers) ->
            {Ref, Others} = maps:take(Worker, Workers),
            Reason =:= normal orelse (Controller ! {rabbitscope, Ref, {error, died, why(Reason)}}),
            agent(Controller, Keeper, Words, Others);
        {'EXIT', From, Reason} when From =:= Keeper; Reason =:= shutdown ->
            [begin unlink(Worker), exit(Worker, kill) end || Worker <- maps:keys(Workers)];
        _ -> agent(Controller, Keeper, Words, Workers)
    end.

%% The first heap is so large that most requests end before their first garbage collection.
options(Words, Args) ->
    Limit = #{size => Words, kill => true, error_logger => false},
    Urgent = [{priority, high} || maps:get(urgent, Args)],
    [link, {max_heap_size, Limit}, {min_heap_size, 65536}, {message_queue_data, off_heap} | Urgent].

why(killed) -> <<"reading the queues exceeded its memory limit on the node">>;
why({Reason, [{M, F, _, _} | _]}) -> unicode:characters_to_binary(io_lib:format("~tp in ~tp:~tp", [Reason, M, F]));
why(_) -> <<"reading the queues failed on the node">>.

run_request({Controller, Ref} = To, Name, Args) ->
    Began = erlang:monotonic_time(microsecond),
    case Name of
        tables -> tables(To, Args);
        infos -> infos(To, maps:get(queues, Args));
        processes -> processes(To, Args)
    end,
    Controller ! {rabbitscope, Ref, {done, #{
        took_us => erlang:monotonic_time(microsecond) - Began,
        interval_ms => environment(collect_statistics_interval, 5000),
        quorum_ms => environment(quorum_tick_interval, 5000),
        stream_ms => environment(stream_tick_interval, 5000),
        running => queue_table:running_nodes(),
        statistics => environment(collect_statistics, none)
    }}}.

environment(Key, Default) -> application:get_env(rabbit, Key, Default).

now_ms() -> erlang:monotonic_time(millisecond).

send(_, _, []) -> ok;
send({Controller, Ref}, What, Rows) -> Controller ! {rabbitscope, Ref, {event, {What, Rows}}}.

%% ---- From the tables ----

%% Reads the latest rows of the broker's tables, table by table. The program combines the rows of each queue.
%%   {names, [{VHost, Name, Type, Process}]}
%%   {dead, [{VHost, Name}]}     queues whose process should be on this node and does not exist
%%   {depths, [{VHost, Name, Ready, Unacknowledged, Reductions}]}
%%   {infos, [{VHost, Name, State, Consumers, MemoryBytes}]}     if `infos` is true
%% A classic queue writes its row of queue_metrics just before that of queue_coarse_metrics, and its
%% reductions differ each time. While the reductions are unchanged, so are the infos, and the program does not read
%% them. Depths are read first: infos may then be newer than the reductions, but never older. (A quorum queue
%% writes in the opposite order, and a stream always has 0 reductions. The program reads their infos each time.)
tables(To, #{vhost := VHost, name := Part, infos := WithInfos}) ->
    Alive = alive(),
    each_piece(VHost, Part, fun (Found, _) ->
        send(To, names, Found),
        send(To, dead, [{In, Name} || {In, Name, _, Process} <- Found, is_dead(Process, Alive)])
    end, none),
    down(VHost, Part, fun (Found) -> send(To, names, Found) end),
    queue_table:in_pieces(queue_coarse_metrics, depths(VHost), fun (Found, _) -> send(To, depths, Found) end, none),
    WithInfos andalso queue_table:in_pieces(queue_metrics, infos_in_place(VHost), fun (Found, _) ->
        send(To, infos, [found_info(Row) || Row <- wanted(Part, Found)])
    end, none).

%% All processes of the node. `is_process_alive/1` may wait for the process in question, but `processes/0` never
%% does. A node with very many processes is left out, because the memory of a request is bounded.
alive() ->
    case erlang:system_info(process_count) =< 50000 of
        true -> maps:from_keys(processes(), here);
        false -> not_asked
    end.

is_dead(Pid, not_asked) when is_pid(Pid) -> false;
is_dead(Pid, Alive) when is_pid(Pid), node(Pid) =:= node() -> not is_map_key(Pid, Alive);
is_dead({Name, Node}, _) when Node =:= node() -> whereis(Name) =:= undefined;
is_dead(_, _) -> false.

depths(VHost) ->
    Head = {{resource, '$1', queue, '$2'}, '$3', '$4', '_', '$5'},
    [{Head, of_vhost(VHost), [{{'$1', '$2', '$3', '$4', '$5'}}]}].

of_vhost(all) -> [];
of_vhost(VHost) -> [{'=:=', '$1', {const, VHost}}].

infos(To, Queues) -> send(To, infos, [info(Queue) || Queue <- Queues]).

%% A row of queue_metrics is a list of more than thirty items, some of them lists. Copying it for three figures is
%% most of the work of a look-up.
info({VHost, Name}) ->
    Resource = {resource, VHost, queue, Name},
    Infos = try ets:lookup_element(queue_metrics, Resource, 2) catch error:badarg -> [] end,
    {VHost, Name, value(state, Infos), value(consumers, Infos), value(memory, Infos)}.

%% A match specification takes figures of many queues out of the table's own lists, by their positions in the
%% list. Positions differ between releases and between queues: the list of an idle queue begins with `idle_since`.
%% They are learned from a few rows. Rows of another form are looked up one by one.
infos_in_place(VHost) ->
    Rows = [{Pattern, {{'$1', '$2', State, Consumers, Memory}}} || {Pattern, State, Consumers, Memory} <- forms()],
    [{{{resource, '$1', queue, '$2'}, Pattern, '_'}, of_vhost(VHost), [Row]} || {Pattern, Row} <- Rows ++ [{'_', {{'$1', '$2'}}}]].

%% The forms of the first rows, the most frequent one first: {Pattern, State, Consumers, Memory}. Each of the last
%% three is a variable of the pattern, or `unknown`.
forms() ->
    case ets:select(queue_metrics, [{{'_', '$1', '_'}, [], ['$1']}], 20) of
        '$end_of_table' -> [];
        {Some, _} ->
            Counts = lists:foldl(fun (Infos, Known) ->
                maps:update_with(form(Infos), fun (Count) -> Count + 1 end, 1, Known)
            end, #{}, Some),
            [Form || {_, Form} <- lists:reverse(lists:sort([{Count, Form} || {Form, Count} <- maps:to_list(Counts)]))]
    end.

form(Infos) ->
    Variables = [{state, '$3'}, {consumers, '$4'}, {memory, '$5'}],
    Places = [place(Info, Variables) || Info <- Infos],
    Last = lists:dropwhile(fun (Place) -> Place =:= '_' end, lists:reverse(Places)),
    Variable = fun (Key) -> proplists:get_value(Key, [Place || Place <- Last, is_tuple(Place)], unknown) end,
    Pattern = lists:foldl(fun (Place, Rest) -> [Place | Rest] end, '_', Last),
    {Pattern, Variable(state), Variable(consumers), Variable(memory)}.

place({Key, _}, Variables) ->
    case lists:keyfind(Key, 1, Variables) of false -> '_'; Place -> Place end;
place(_, _) -> '_'.

found_info({_, _} = Queue) -> info(Queue);
found_info(Row) -> Row.

%% Name, type and process of all selected queues.
each_piece(VHost, Part, Each, Acc) ->
    Head = queue_table:queue_head([{name, {resource, '$1', queue, '$2'}}, {type, '$3'}, {pid, '$4'}]),
    Wanted = fun (Found, Now) -> Each(wanted(Part, Found), Now) end,
    queue_table:in_pieces(queue_table:queue_table(), [{Head, of_vhost(VHost), [{{'$1', '$2', '$3', '$4'}}]}], Wanted, Acc).

%% Durable classic queues of a stopped node. Only the table of durable queues has them.
down(VHost, Part, Each) ->
    case {queue_table:queue_table(), ets:info(rabbit_durable_queue, size)} of
        {rabbit_queue, Size} when is_integer(Size) ->
            Head = queue_table:queue_head([{name, {resource, '$1', queue, '$2'}}, {type, 'rabbit_classic_queue'}, {pid, '$4'}]),
            Down = [{is_pid, '$4'} | [{'=/=', {node, '$4'}, {const, Node}} || Node <- queue_table:running_nodes()]],
            Specification = [{Head, of_vhost(VHost) ++ Down, [{{'$1', '$2', rabbit_classic_queue, '$4'}}]}],
            queue_table:in_pieces(rabbit_durable_queue, Specification, fun (Found, _) ->
                Each([Row || {In, Name, _, _} = Row <- wanted(Part, Found), not ets:member(rabbit_queue, {resource, In, queue, Name})])
            end, none);
        _ -> ok
    end.

%% The rows with `Part` in the name. A row begins with virtual host and name.
wanted(all, Rows) -> Rows;
wanted(Part, Rows) -> [Row || Row <- Rows, binary:match(element(2, Row), Part) =/= nomatch].

%% ---- From the queues ----

%% Figures from the queues themselves. A separate process asks each, so that a queue without an answer delays no
%% other. A thousand are asked at the same time; at the deadline the silent ones are reported as `no_answer`.
%%   {rows, [{VHost, Name, Type, Process, Figures}]}
%% Figures are {State, Ready, Unacknowledged, Consumers, MemoryBytes}, each possibly `unknown`, or an atom with the
%% reason for absent figures: no_answer, not_asked, gone, down.
processes(To, #{vhost := VHost, name := Part, within_ms := WithinMs}) ->
    Deadline = now_ms() + WithinMs,
    down(VHost, Part, fun (Found) -> send(To, rows, [row(Queue, down) || Queue <- Found]) end),
    Running = queue_table:running_nodes(),
    Asked = each_piece(VHost, Part, fun (Found, Asked) -> ask(Found, {Deadline, Running}, To, Asked) end, #{}),
    collect(Deadline, To, Asked).

row({VHost, Name, Type, Process}, Figures) -> {VHost, Name, Type, Process, Figures}.

figures(Infos, Ready, Unacknowledged) ->
    {value(state, Infos), Ready, Unacknowledged, value(consumers, Infos), value(memory, Infos)}.

value(Key, Infos) ->
    case lists:keyfind(Key, 1, Infos) of
        {_, Value} when is_integer(Value); is_atom(Value), Value =/= '' -> Value;
        _ -> unknown
    end.

ask([], _, _, Asked) -> Asked;
ask([Queue | Rest], {Deadline, Running} = Until, To, Asked) when map_size(Asked) < 1000 ->
    {VHost, Name, _, _} = Queue,
    {Process, Monitor} = spawn_monitor(fun () ->
        %% The node would log an error.
        exit({answer, try answer({resource, VHost, queue, Name}, Running, max(1, Deadline - now_ms())) catch _:_ -> no_answer end})
    end),
    ask(Rest, Until, To, Asked#{Monitor => {Process, Queue}});
ask(Queues, {Deadline, _} = Until, To, Asked) ->
    case now_ms() < Deadline of
        true -> ask(Queues, Until, To, collect_some(500, Deadline, To, Asked, []));
        false -> send(To, rows, [row(Queue, not_asked) || Queue <- Queues]), Asked
    end.

answer(Resource, Running, WithinMs) ->
    case rabbit_amqqueue:lookup(Resource) of
        {ok, Queue} ->
            Process = amqqueue:get_pid(Queue),
            case lists:member(node_of(Process), Running) of
                true -> answer_of(amqqueue:get_type(Queue), Queue, Process, WithinMs);
                false -> down
            end;
        _ -> gone
    end.

node_of(Pid) when is_pid(Pid) -> node(Pid);
node_of({_, Node}) -> Node;
node_of(_) -> node().

%% A classic queue answers itself, on any node. For other types the broker reads the tables of the node of the call,
%% so the leader's node is asked. The tables are some seconds old. Depths and consumers of a quorum queue come from
%% its state; a stream has no process to ask.
answer_of(rabbit_quorum_queue, Queue, {_, Node} = Leader, WithinMs) ->
    Infos = on_node(Node, rabbit_amqqueue, info, [Queue, [state, memory]], WithinMs),
    case value(state, Infos) of
        down -> down;
        State ->
            {ok, Ready, Consumers} = rabbit_fifo_client:stat(Leader, WithinMs),
            {ok, {_, Unacknowledged}, _} = ra:local_query(Leader, fun rabbit_fifo:query_messages_checked_out/1, WithinMs),
            {State, Ready, Unacknowledged, Consumers, value(memory, Infos)}
    end;
answer_of(rabbit_stream_queue, Queue, Process, WithinMs) ->
    infos_figures(on_node(node_of(Process), rabbit_amqqueue, info, [Queue, items()], WithinMs));
answer_of(_, Queue, _, _) ->
    infos_figures(rabbit_amqqueue:info(Queue, items())).

items() -> [state, messages_ready, messages_unacknowledged, consumers, memory].

infos_figures(Infos) -> figures(Infos, value(messages_ready, Infos), value(messages_unacknowledged, Infos)).

on_node(Node, Module, Function, Arguments, _) when Node =:= node() -> apply(Module, Function, Arguments);
on_node(Node, Module, Function, Arguments, WithinMs) -> erpc:call(Node, Module, Function, Arguments, WithinMs).

%% Waits for the remaining answers until the deadline.
collect(Deadline, To, Asked) ->
    Late = maps:fold(fun (Monitor, {Process, Queue}, Rows) ->
        demonitor(Monitor, [flush]),
        exit(Process, kill),
        [row(Queue, no_answer) | Rows]
    end, [], collect_some(0, Deadline, To, Asked, [])),
    send(To, rows, Late).

%% Waits until at most `Most` queues have not answered.
collect_some(Most, _, To, Asked, Rows) when map_size(Asked) =< Most ->
    send(To, rows, Rows),
    Asked;
collect_some(Most, Deadline, To, Asked, Rows) when length(Rows) >= 300 ->
    send(To, rows, Rows),
    collect_some(Most, Deadline, To, Asked, []);
collect_some(Most, Deadline, To, Asked, Rows) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Asked) ->
            {{_, Queue}, Fewer} = maps:take(Monitor, Asked),
            Figures = case Reason of {answer, Answer} -> Answer; _ -> no_answer end,
            collect_some(Most, Deadline, To, Fewer, [row(Queue, Figures) | Rows])
    after max(0, Deadline - now_ms()) ->
        send(To, rows, Rows),
        Asked
    end.
