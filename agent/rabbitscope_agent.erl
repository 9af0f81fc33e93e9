%% The agent: takes requests, gives each a process of its own, and cleans up when one of them dies.
%%
%% README.md has the protocol, manifest.toml the parts that are assembled with this file into one module.
-module(rabbitscope_agent).
-export([start/3, cleanup/1]).

%% Starts the agent. Options: `max_heap_bytes`, the most that each of its processes may use.
start(Controller, Keeper, Options) ->
    Bytes = maps:get(max_heap_bytes, Options, 67108864),
    spawn_opt(
        fun() ->
            process_flag(trap_exit, true),
            agent(#{controller => Controller, keeper => Keeper, max_heap_bytes => Bytes, workers => #{}, armed => #{}})
        end,
        request:limits(Bytes)).

agent(#{controller := Controller, keeper := Keeper, workers := Workers, armed := Armed} = Agent) ->
    receive
        {request, Ref, Name, Args} ->
            agent(begin_request(Ref, Name, Args, Agent));
        {credit, Ref, N} ->
            tell(Ref, {credit, N}, Workers),
            agent(Agent);
        {cancel, Ref} ->
            tell(Ref, cancel, Workers),
            agent(Agent);
        {arm, Worker, Mark, What} ->
            Now = Armed#{Worker => What},
            Keeper ! {armed, maps:values(Now)},
            Worker ! Mark,
            agent(Agent#{armed := Now});
        {'EXIT', From, _} when From =:= Keeper ->
            end_all(Agent);
        {'EXIT', From, Reason} when is_map_key(From, Workers) ->
            agent(ended(From, Reason, Agent));
        {'EXIT', _, shutdown} ->
            end_all(Agent);
        {'EXIT', _, {shutdown, _}} ->
            end_all(Agent);
        _ ->
            Controller =:= self() andalso exit(confused),
            agent(Agent)
    end.

tell(Ref, What, Workers) ->
    [Worker ! What || {Worker, Of} <- maps:to_list(Workers), Of =:= Ref],
    ok.

begin_request(Ref, Name, Args, #{controller := Controller, workers := Workers} = Agent) ->
    case work(Name) of
        unknown ->
            refuse(Controller, Ref, unknown_request, io_lib:format("the agent knows no request ~tp", [Name])),
            Agent;
        Work ->
            To = #{controller => Controller, ref => Ref, agent => self(), args => Args, otp => request:otp_release()},
            Worker = spawn_opt(fun() -> worker(Work, To) end, [link | request:limits(maps:get(max_heap_bytes, Agent))]),
            Agent#{workers := Workers#{Worker => Ref}}
    end.

worker(Work, #{controller := Controller, ref := Ref, args := Args} = To) ->
    put(credit, maps:get(credit, Args, 0)),
    put(not_sent, 0),
    try Work(To) of
        Result -> Controller ! {rabbitscope, Ref, {done, Result#{not_sent => get(not_sent)}}}
    catch
        throw:{refused, Kind, Text} -> refuse(Controller, Ref, Kind, Text);
        %% The node logs the whole reason if a process fails, and nothing if it exits.
        _:Reason:Stack -> exit({failed, where(Reason, Stack)})
    end.

refuse(Controller, Ref, Kind, Text) ->
    Controller ! {rabbitscope, Ref, {error, Kind, unicode:characters_to_binary(Text)}}.

%% Removes the leftovers of a worker that has ended from the node.
ended(Worker, Reason, #{controller := Controller, workers := Workers, armed := Armed, keeper := Keeper} = Agent) ->
    {Ref, Others} = maps:take(Worker, Workers),
    Left = maps:get(Worker, Armed, none),
    tracing:disarm(Left),
    Still = maps:remove(Worker, Armed),
    Left =:= none orelse (Keeper ! {armed, maps:values(Still)}),
    Reason =:= normal orelse refuse(Controller, Ref, died, why(Reason, maps:get(max_heap_bytes, Agent))),
    Agent#{workers := Others, armed := Still}.

why(killed, Bytes) ->
    io_lib:format("the probe needed more than ~b MiB on the node and was ended; it left nothing there", [Bytes bsr 20]);
why({failed, Where}, _) -> io_lib:format("the probe failed on the node: ~tp", [Where]);
why(_, _) -> "the probe failed on the node".

%% The place of a failure without the whole reason, which may contain arguments of the observed functions.
where(Reason, [{M, F, A, _} | _]) ->
    What = case Reason of {Word, _} when is_atom(Word) -> Word; Word when is_atom(Word) -> Word; _ -> failed end,
    {What, M, F, if is_list(A) -> length(A); true -> A end};
where(_, _) -> unknown.

end_all(#{workers := Workers, armed := Armed}) ->
    [begin unlink(Worker), exit(Worker, kill) end || Worker <- maps:keys(Workers)],
    cleanup(maps:values(Armed)).

%% Removes exactly the things that `Armed` names. The agent calls it, and the keeper after the agent.
cleanup(Armed) ->
    lists:foreach(fun tracing:disarm/1, Armed).

%% The function of each request.
work(trace) -> fun call_trace:calls/1;
work(calltree) -> fun calltree:calltree/1;
work(counters) -> fun call_times:counters/1;
work(sample) -> fun stack_samples:sample/1;
work(_) -> unknown.
