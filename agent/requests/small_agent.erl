%% The loop of a small agent: one process for each request, with a bound for its heap, and nothing to clean up.
-module(small_agent).
-export([serve/4]).

%% Starts the agent. `Work(Name, Args)` returns the result of a request, in a separate process. With the option
%% `ends_early`, a cancelled request is told by the message `cancel` and still answers; without it, it is killed.
serve(Controller, Keeper, Options, Work) ->
    Words = maps:get(max_heap_bytes, Options) div erlang:system_info(wordsize),
    EndsEarly = maps:get(ends_early, Options, false),
    spawn_opt(fun () ->
        process_flag(trap_exit, true),
        wait_for_requests(#{controller => Controller, keeper => Keeper, words => Words, work => Work, ends_early => EndsEarly}, #{})
    end, [{message_queue_data, off_heap}]).

wait_for_requests(#{controller := Controller, keeper := Keeper} = Agent, Workers) ->
    receive
        {request, Ref, Name, Args} ->
            wait_for_requests(Agent, Workers#{begin_request(Agent, Ref, Name, Args) => Ref});
        {cancel, Ref} ->
            [cancel_request(Agent, Worker) || {Worker, Of} <- maps:to_list(Workers), Of =:= Ref],
            wait_for_requests(Agent, Workers);
        {'EXIT', Worker, Reason} when is_map_key(Worker, Workers) ->
            {Ref, Others} = maps:take(Worker, Workers),
            Reason =:= normal orelse (Controller ! {rabbitscope, Ref, {error, died, cause_of_end(Reason)}}),
            wait_for_requests(Agent, Others);
        {'EXIT', From, Reason} when From =:= Keeper; Reason =:= shutdown ->
            [begin unlink(Worker), exit(Worker, kill) end || Worker <- maps:keys(Workers)];
        _ -> wait_for_requests(Agent, Workers)
    end.

begin_request(#{controller := Controller, words := Words, work := Work}, Ref, Name, Args) ->
    Limit = #{size => Words, kill => true, error_logger => false},
    spawn_opt(fun () ->
        Answer = try {done, Work(Name, Args)} catch throw:{refused, Kind, Text} -> {error, Kind, Text} end,
        Controller ! {rabbitscope, Ref, Answer}
    end, [link, {max_heap_size, Limit}]).

cancel_request(#{ends_early := true}, Worker) -> Worker ! cancel;
cancel_request(_, Worker) -> exit(Worker, kill).

cause_of_end(killed) -> <<"the request exceeded its memory limit on the node">>;
cause_of_end({Reason, [{M, F, _, _} | _]}) -> unicode:characters_to_binary(io_lib:format("~tp in ~tp:~tp", [Reason, M, F]));
cause_of_end(_) -> <<"the request failed on the node">>.
