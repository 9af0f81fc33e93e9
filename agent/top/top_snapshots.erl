%% Two snapshots of processes, and the rows that changed most between them.
%%
%% A process in native code that keeps its scheduler answers no question. So a separate process takes each snapshot, and
%% notes the process that it asks. If there is no answer, the snapshot begins again without that process. Late answers
%% are noted, too: such code counts few reductions, so the table does not show it.
-module(top_snapshots).
-export([remembered/4, best_rows/5]).

%% Keeps a row {Pid, Reductions, In, Out} of each candidate. Returns {Count, Silent, Late}: processes without an answer,
%% and processes with a late one, `#{Pid => Microseconds}`.
remembered(What, Before, Silent, Words) ->
    attended(fun (Skipped, Note) ->
        Traffic = top_traffic:traffic(What),
        candidates(What, Traffic, fun (Pid, Key, Count) ->
            case is_map_key(Pid, Skipped) orelse Note(Pid, fun () -> process_info(Pid, reductions) end) of
                {reductions, Reductions} ->
                    {In, Out} = top_traffic:traffic_of(What, Pid, Key, Traffic),
                    ets:insert(Before, {Pid, Reductions, In, Out}),
                    Count + 1;
                _ -> Count
            end
        end, 0)
    end, Silent, Words).

%% {{Rows, Longest, Tables}, Silent, Late}: the best rows {Value, Pid, Key, Row}, the candidate with the most messages, and the
%% tables of queues.
best_rows(#{what := What, sort := Sort, limit := Limit}, Before, Silent, Words, Own) ->
    attended(fun (Skipped, Note) ->
        Traffic = top_traffic:traffic(What),
        Tables = case What of queues -> memory_queues:tables_by_queue(); _ -> #{} end,
        {Best, Longest} = candidates(What, Traffic, fun (Pid, Key, {Found, Longest} = Now) ->
            case is_map_key(Pid, Skipped) orelse lists:member(Pid, Own) orelse
                Note(Pid, fun () -> now_and_before(What, Pid, Key, Before, Traffic) end) of
                {_, _, _, _, Mailbox} = Row ->
                    {keep({value(Sort, {Pid, Key, Tables}, Row), Pid, Key, Row}, Found, Limit), max({Mailbox, Pid}, Longest)};
                _ -> Now
            end
        end, {gb_sets:empty(), {0, none}}),
        {lists:reverse(gb_sets:to_list(Best)), Longest, Tables}
    end, Silent, Words).

%% ---- A process for each snapshot ----

%% Calls Work(Skipped, Note) in a separate process. Note(Pid, Ask) asks, and notes the asked process, and the time if the
%% answer is late.
attended(Work, Silent, Words) ->
    Asked = ets:new(asked, [set, public]),
    Note = fun (Pid, Ask) -> noted(Pid, Ask, Asked) end,
    Limit = #{size => Words, kill => true, error_logger => false},
    Caller = self(),
    Worker = spawn_opt(fun () -> Caller ! {snapshot, self(), Work(Silent, Note)} end, [link, {max_heap_size, Limit}]),
    Answer = wait_for_snapshot(Worker, Asked, none),
    Late = maps:from_list(ets:select(Asked, [{{{late, '$1'}, '$2'}, [], [{{'$1', '$2'}}]}])),
    ets:delete(Asked),
    case Answer of
        {ok, Found} -> {Found, Silent, Late};
        {silent, Pid} when map_size(Silent) < 16 -> attended(Work, Silent#{Pid => true}, Words);
        {silent, _} -> exit(too_many_do_not_answer)
    end.

noted(Pid, Ask, Asked) ->
    ets:insert(Asked, {asked, Pid}),
    Began = erlang:monotonic_time(microsecond),
    Answer = Ask(),
    Took = erlang:monotonic_time(microsecond) - Began,
    Took > 10000 andalso ets:insert(Asked, {{late, Pid}, Took}),
    Answer.

%% If it still asks the same process as half a second ago, that process does not answer.
wait_for_snapshot(Worker, Asked, Before) ->
    receive
        {snapshot, Worker, Found} -> {ok, Found}
    after 500 ->
        Now = asked_now(Asked, Worker),
        case Now =/= none andalso Now =:= Before of
            true ->
                unlink(Worker),
                exit(Worker, kill),
                {silent, element(1, Now)};
            false -> wait_for_snapshot(Worker, Asked, Now)
        end
    end.

%% A working worker has more reductions than half a second ago.
asked_now(Asked, Worker) ->
    case {ets:lookup(Asked, asked), process_info(Worker, [status, reductions])} of
        {[{_, Pid}], [{status, waiting}, Reductions]} -> {Pid, Reductions};
        _ -> none
    end.

%% ---- Candidates ----

%% All candidates, each with the process that does its work. If a plugin serves the protocol (MQTT before 3.12, AMQP
%% 1.0 before 4.0), the tables have a process between plugin and broker, which does almost nothing.
candidates(connections, {_, Serving}, Each, Acc) ->
    broker_tables:each(connections, fun (Pid, _, In) -> Each(maps:get(Pid, Serving, Pid), Pid, In) end, Acc);
candidates(What, _, Each, Acc) -> broker_tables:each(What, Each, Acc).

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
            {In, Out} = top_traffic:traffic_of(What, Pid, Key, Traffic),
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
value(memory, {_, Key, Tables}, Row) -> element(4, Row) + memory_queues:table_bytes(Key, Tables);
value(ready, {_, Key, _}, _) -> number(element(1, top_rows:depth(Key)));
value(unacked, {_, {resource, _, queue, _} = Key, _}, _) -> number(element(2, top_rows:depth(Key)));
value(unacked, {Pid, _, _}, _) -> number(top_rows:unacknowledged(Pid));
value(mailbox, _, Row) -> element(5, Row);
value(binaries, {Pid, Key, Tables}, _) -> number(top_rows:binaries(Pid, Key, Tables)).

number(unknown) -> -1;
number(Value) -> Value.
