%% Questions to processes that may not answer.
%%
%% A process in native code that keeps its scheduler answers no question. So a separate process asks, and notes the
%% process that it asks in its dictionary. If there is no answer, the work begins again without that process.
-module(attendance).
-export([attended/3]).

%% Calls Work(Skipped, Note) in a separate process. Note(Pid, Ask) asks, and notes the asked process, and the time if the
%% answer is late. The separate process has the priority of its caller.
attended(Work, Silent, Words) ->
    LateOnes = ets:new(late, [set, public]),
    Note = fun (Pid, Ask) -> noted(Pid, Ask, LateOnes) end,
    Limit = #{size => Words, kill => true, error_logger => false},
    Caller = self(),
    Worker = spawn_opt(fun () -> Caller ! {snapshot, self(), Work(Silent, Note)} end, [link, process_info(self(), priority), {max_heap_size, Limit}]),
    Answer = wait_for_snapshot(Worker, none),
    Late = maps:from_list(ets:tab2list(LateOnes)),
    ets:delete(LateOnes),
    case Answer of
        {ok, Found} -> {Found, Silent, Late};
        {silent, Pid} when map_size(Silent) < 16 -> attended(Work, Silent#{Pid => true}, Words);
        {silent, _} -> exit(too_many_do_not_answer)
    end.

noted(Pid, Ask, LateOnes) ->
    put(asked, Pid),
    Began = erlang:monotonic_time(microsecond),
    Answer = Ask(),
    Took = erlang:monotonic_time(microsecond) - Began,
    Took > 10000 andalso ets:insert(LateOnes, {Pid, Took}),
    Answer.

%% If it still asks the same process as half a second ago, that process does not answer.
wait_for_snapshot(Worker, Before) ->
    receive
        {snapshot, Worker, Found} -> {ok, Found}
    after 500 ->
        Now = asked_now(Worker),
        case Now =/= none andalso Now =:= Before of
            true ->
                unlink(Worker),
                exit(Worker, kill),
                {silent, element(1, Now)};
            false -> wait_for_snapshot(Worker, Now)
        end
    end.

%% A working worker has more reductions than half a second ago.
asked_now(Worker) ->
    case process_info(Worker, [status, reductions, dictionary]) of
        [{_, waiting}, Reductions, {_, Dictionary}] ->
            case lists:keyfind(asked, 1, Dictionary) of {_, Pid} -> {Pid, Reductions}; false -> none end;
        _ -> none
    end.
