%% The loop of a small agent: one process for each request, with a bound for its heap, and nothing to clean up.
-module(small_agent).
-export([serve/4]).

%% Starts the agent. `Work(Name, Args)` returns the result of a request, in a separate process.
serve(Controller, Keeper, Options, Work) ->
    Words = maps:get(max_heap_bytes, Options) div erlang:system_info(wordsize),
    spawn_opt(fun () ->
        process_flag(trap_exit, true),
        wait_for_requests(#{controller => Controller, keeper => Keeper, words => Words, work => Work}, #{})
    end, [{message_queue_data, off_heap}]).

wait_for_requests(#{controller := Controller, keeper := Keeper} = Agent, Workers) ->
    receive
        {request, Ref, Name, Args} ->
            wait_for_requests(Agent, Workers#{begin_request(Agent, Ref, Name, Args) => Ref});
        {cancel, Ref} ->
            [exit(Worker, kill) || {Worker, Of} <- maps:to_list(Workers), Of =:= Ref],
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

cause_of_end(killed) -> <<"the request exceeded its memory limit on the node">>;
cause_of_end({Reason, [{M, F, _, _} | _]}) -> unicode:characters_to_binary(io_lib:format("~tp in ~tp:~tp", [Reason, M, F]));
cause_of_end(_) -> <<"the request failed on the node">>.
