
%% ---- Call tree: where the time of chosen processes goes, merged in the node ----
%%
%% A process sends its calls, returns, scheduling and collections only while it is inside the
%% function that was asked for (`entry`), or all the time (`who`). The first breakpoint inside is a
%% meta trace: it costs the processes that are not traced a few nanoseconds, and sets the flags in
%% the process itself, so that the first inner call is seen already.
%%
%% The stack is rebuilt from the caller that every call carries. A tail call has the caller of the
%% function before it: it is put on top of that function, and a loop of tail calls folds back onto
%% its first round. Time belongs to the stack before an event, never to the one after it.
%%
%% When there are more events than the agent can take, all processes are made quiet for a while
%% (a pause) and are found again afterwards by the innermost frames of their stacks.

-record(p, {
    pid, owner, entry = none,
    open = false,       % followed or chosen: there is no outermost function that ends the record
    stack = [],         % innermost first: {MFA, Node, real | tail}
    root = 0,           % node below which this process's stacks hang
    base = none,        % the caller of the outermost function
    exact = false,      % the outermost function's own return is traced
    class = run, before_gc = run, off = 0,
    last = none, since = none,  % nanoseconds of the monotonic clock, which is negative
    follow = none,      % {Pid that this one waits for, node of the call that waits}
    idle = 0            % events since the call ended
}).

-record(s, {
    to, tracing, budget, entries = [], tails = #{}, procs = #{}, pausing = false,
    nodes = #{}, count = 0, most_nodes, weights = #{}, slowest = none,
    calls = 0, cut = 0, most_calls, at_once, role = any, follow = false, not_followed = 0,
    events = 0, window = 0, window_events, windows = 1,
    seen = 0, unseen = 0, unplaced = 0, clearing = [], rate = 0, stop = none, started = 0
}).

flags() -> [call, return_to, running, arity, monotonic_timestamp].

flags(#{gc := true}) -> [garbage_collection | flags()];
flags(_) -> flags().

calltree(#{args := Args} = To) ->
    Budget = budget(To, #{max_events => 2000000, duration_ms => 10000, max_mailbox => 20000,
        max_node_memory_bytes => 50331648}),
    Entries = case Args of
        #{module := _} -> must_exist(pattern_of(Args));
        _ -> []
    end,
    Chosen = case Args of #{who := Who} -> lists:sublist(chosen(Who), 64); _ -> [] end,
    Tracing = open_tracing(To),
    refuse_patterned(Tracing, {'_', '_', '_'}),
    {Rate, Counting} = call_rate(Entries, 150, Tracing),
    Armed = set_wide(Counting, maps:get(follow, Args, false)),
    Now = erlang:monotonic_time(nanosecond),
    State = #s{to = To, tracing = Armed, budget = Budget, entries = Entries, tails = tails_of(Entries),
        most_nodes = maps:get(max_nodes, Args, 20000), most_calls = maps:get(max_calls, Args, 10000),
        at_once = if Rate > 1000 -> 1; true -> 8 end, rate = Rate,
        role = maps:get(role, Args, any), follow = maps:get(follow, Args, false),
        window_events = maps:get(window_events, Args, 50000), started = Now},
    put(weights, #{}),
    put(nodes, #{}),
    start_clocks(Budget),
    erlang:send_after(50, self(), tick),
    Ended = tree_loop(start_open(Chosen, set_entries(State))),
    tree_result(Ended).

pattern_of(#{module := M, function := F} = Args) ->
    {existing_atom(M), existing_atom(F), maps:get(arity, Args, '_')}.

existing_atom('_') -> '_';
existing_atom(Text) when is_atom(Text) -> Text;
existing_atom(Text) ->
    try binary_to_existing_atom(Text, utf8)
    catch error:badarg -> throw({refused, no_such_function, io_lib:format("nothing on the node is called ~ts", [Text])})
    end.

set_wide(Tracing, Follow) ->
    Wide = set_pattern({'_', '_', '_'}, [{'_', [], [{message, {caller}}]}], [local], Tracing),
    change_pattern({?MODULE, '_', '_'}, false, [local], Wide),
    Follow andalso change_pattern({gen, do_call, 4},
        [{['$1', '_', '_', '_'], [], [{trace, '$1', [], {const, own_flags(Wide)}}, {message, {{{const, follow}, '$1', {caller}}}}]}],
        [local], Wide),
    Wide.

%% Flags for a process that a match specification names.
own_flags(#{session := none, tracer := Tracer} = Tracing) -> [{tracer, Tracer} | flags(Tracing)];
own_flags(Tracing) -> flags(Tracing).

set_entries(#s{entries = Entries} = S) ->
    lists:foldl(fun set_entry/2, S, Entries).

set_entry(MFA, #s{tracing = Tracing} = S) ->
    Spec = [{'_', [], [{trace, [], {const, own_flags(Tracing)}}, {message, false}]}],
    S#s{tracing = set_pattern(MFA, Spec, [meta], Tracing)}.

hide_entries(#s{entries = Entries, tracing = Tracing} = S) ->
    [drop_pattern(MFA, [meta], Tracing) || MFA <- Entries],
    S.

start_open(Pids, S) ->
    lists:foldl(fun start_open_one/2, S, Pids).

start_open_one(Pid, S) ->
    {Root, S1} = root_node(Pid, S),
    P = #p{pid = Pid, owner = Pid, open = true, root = Root},
    wake(P, S1).

root_node(Pid, S) ->
    child(0, {process, role(Pid), process_name(Pid)}, S).

%% ---- The loop ----

tree_loop(#s{stop = none} = S) ->
    receive
        {trace_ts, Pid, What, About, Ts} -> tree_loop(counted_event(event(What, Pid, About, none, Ts, S)));
        {trace_ts, Pid, call, MFA, Caller, Ts} -> tree_loop(counted_event(event(call, Pid, MFA, Caller, Ts, S)));
        tick -> tree_loop(tick(S));
        pause_over -> tree_loop(resume(S));
        time_is_up -> S#s{stop = duration};
        cancel -> S#s{stop = cancelled};
        {credit, N} -> add_credit(N), tree_loop(S);
        look_at_memory ->
            case memory_grown(S#s.budget) of
                true -> S#s{stop = max_node_memory_bytes};
                false -> tree_loop(S)
            end;
        _ -> tree_loop(S)
    end;
tree_loop(S) -> S.

counted_event(#s{events = Events, window = Window} = S0) ->
    S = S0#s{events = Events + 1, window = Window + 1},
    if
        Events rem 256 =/= 0 -> S;
        Events >= map_get(max_events, S#s.budget) -> S#s{stop = max_events};
        S#s.calls >= S#s.most_calls -> S#s{stop = max_calls};
        S#s.pausing -> S;
        Window >= S#s.window_events -> pause(S);
        true ->
            case mailbox() > map_get(max_mailbox, S#s.budget) of
                true -> pause(S);
                false -> S
            end
    end.

event(What, Pid, About, Caller, Ts, #s{procs = Procs} = S) ->
    case Procs of
        #{Pid := P} -> happened(What, About, Caller, Ts, P, S);
        _ -> stranger(What, Pid, About, Caller, Ts, S)
    end.

%% The first event of a process. Only a call tells whether it is inside the function.
stranger(call, Pid, MFA, Caller, Ts, #s{entries = Entries, procs = Procs} = S) ->
    %% Armed by an earlier call that made none itself: this one is seen from its beginning.
    Again = lists:member(MFA, Entries),
    Entry = if Again -> MFA; true -> entry_of(MFA, caller_of(Caller), S) end,
    if
        Entry =:= none -> dismiss(Pid, S);
        map_size(Procs) >= S#s.at_once -> dismiss(Pid, S);
        true ->
            case S#s.role =:= any orelse atom_to_binary(role(Pid), utf8) =:= S#s.role of
                false -> dismiss(Pid, S);
                true ->
                    {Root, S1} = root_node(Pid, S),
                    P = #p{pid = Pid, owner = Pid, entry = Entry, root = Root},
                    put(Pid, #{}),
                    case Again of
                        true -> keep(enter(Entry, caller_of(Caller), true, Ts, P), S1);
                        false -> happened(call, MFA, Caller, Ts, enter(Entry, none, false, Ts, P), S1)
                    end
            end
    end;
stranger(_, _, _, _, _, #s{entries = []} = S) -> S;
stranger(out, Pid, MFA, _, Ts, #s{entries = Entries, procs = Procs} = S) ->
    %% Waits in the function itself, or is outside again.
    case lists:member(MFA, Entries) andalso map_size(Procs) < S#s.at_once andalso S#s.role =:= any of
        true ->
            {Root, S1} = root_node(Pid, S),
            P = #p{pid = Pid, owner = Pid, entry = MFA, root = Root},
            put(Pid, #{}),
            happened(out, MFA, none, Ts, enter(MFA, none, false, Ts, P), S1);
        false -> dismiss(Pid, S)
    end;
stranger(_, _, _, _, _, S) -> S.

caller_of({follow, _, Caller}) -> Caller;
caller_of(Caller) -> Caller.

entry_of(MFA, Caller, #s{entries = Entries, tails = Tails}) ->
    case lists:member(Caller, Entries) of
        true -> Caller;
        false ->
            case [Entry || Entry <- Entries, lists:member(MFA, maps:get(Entry, Tails, []))] of
                [Entry | _] -> Entry;
                [] -> none
            end
    end.

dismiss(Pid, #s{tracing = Tracing, clearing = Clearing} = S) ->
    quieten(Pid, Tracing),
    S#s{clearing = [Pid | Clearing]}.

enter(Entry, Base, Exact, Ts, P) ->
    P#p{entry = Entry, stack = [{Entry, entry, real}], base = Base, exact = Exact, class = run, last = Ts, since = Ts, idle = 0}.

%% ---- What one process did ----

happened(What, About, Caller, Ts, #p{stack = [{Entry, entry, _}]} = P, S) ->
    {Node, S1} = child(P#p.root, Entry, S),
    weigh(P#p.owner, Node, 3, 1),
    happened(What, About, Caller, Ts, P#p{stack = [{Entry, Node, real}]}, S1);
happened(call, MFA, Caller, Ts, #p{open = false, stack = []} = P, S) ->
    %% Outside, and not quiet yet.
    case lists:member(MFA, S#s.entries) of
        true -> keep(enter(MFA, caller_of(Caller), true, Ts, P), S);
        false -> outside(P, S)
    end;
happened(_, _, _, Ts, #p{open = false, stack = []} = P, S) ->
    outside(P#p{last = Ts}, S);
happened(call, MFA, {follow, Target, Caller}, Ts, P, S) ->
    S1 = happened(call, MFA, Caller, Ts, P, S),
    follow(Target, P#p.pid, Ts, S1);
happened(call, MFA, Caller, Ts, P, S) ->
    called(MFA, Caller, elapse(P, Ts), S);
happened(return_to, To, _, Ts, P, S) ->
    returned(To, elapse(P, Ts), S);
happened(out, MFA, _, Ts, #p{class = run} = P, S) ->
    scheduled_out(MFA, elapse(P, Ts), S);
happened(in, MFA, _, Ts, #p{class = off} = P, S) ->
    scheduled_in(MFA, elapse(P, Ts), S);
happened(What, _, _, Ts, P, S) when What =:= gc_minor_start; What =:= gc_major_start ->
    keep((elapse(P, Ts))#p{class = gc, before_gc = P#p.class}, S);
happened(What, _, _, Ts, #p{class = gc} = P, S) when What =:= gc_minor_end; What =:= gc_major_end ->
    keep((elapse(P, Ts))#p{class = P#p.before_gc}, S);
happened(What, _, _, Ts, P, S) when What =:= out_exited; What =:= out_exiting; What =:= in_exiting ->
    end_call(elapse(P, Ts), S);
happened(_, _, _, _, _, S) ->
    S.

keep(#p{pid = Pid} = P, #s{procs = Procs} = S) -> S#s{procs = Procs#{Pid => P}}.

%% Stays for a moment: a process that calls the function in a loop is measured exactly from its
%% second call on.
outside(#p{idle = Idle} = P, S) when Idle < 64 -> keep(P#p{idle = Idle + 1}, S);
outside(P, S) -> forget(P, S).

forget(#p{pid = Pid}, #s{procs = Procs} = S) ->
    erase(Pid),
    dismiss(Pid, S#s{procs = maps:remove(Pid, Procs)}).

%% Time since the last event goes to where the process was. While it waits for a process that is
%% followed, that one's time stands instead.
elapse(#p{class = off, follow = {_, _}} = P, Ts) ->
    P#p{last = Ts};
elapse(#p{last = Last, owner = Owner, class = Class} = P, Ts) when Ts > Last ->
    case Class of
        run -> weigh(Owner, top(P), 0, Ts - Last);
        off -> weigh(Owner, P#p.off, 1, Ts - Last);
        gc -> weigh(Owner, top(P), 2, Ts - Last)
    end,
    P#p{last = Ts};
elapse(P, _) -> P.

top(#p{stack = [{_, Node, _} | _]}) -> Node;
top(#p{root = Root}) -> Root.

%% Kinds: 0 run, 1 off, 2 collection (nanoseconds), 3 calls.
weigh(Owner, Node, Kind, Amount) ->
    Key = Node bsl 2 bor Kind,
    Weights = case get(Owner) of undefined -> #{}; Known -> Known end,
    put(Owner, case Weights of
        #{Key := Old} -> Weights#{Key := Old + Amount};
        _ -> Weights#{Key => Amount}
    end).

called(MFA, Caller, #p{stack = [{Caller, _, _} | _]} = P, S) ->
    push(MFA, real, P, S);
called(MFA, Caller, #p{stack = Stack, open = Open} = P, S) ->
    case lists:splitwith(fun({Name, _, _}) -> Name =/= Caller end, Stack) of
        {Above, [_ | _] = Below} -> tail(MFA, P#p{stack = innermost_chain(Above) ++ Below}, S);
        _ when Open, Stack =/= [], P#p.base =:= Caller -> tail(MFA, P#p{stack = innermost_chain(Stack)}, S);
        _ when Open -> regrow(MFA, Caller, P, S);
        _ -> called_from_elsewhere(MFA, Caller, P, S)
    end.

%% Of the frames above a caller those that return to it: the function that it called, and what that
%% one has tail-called. Frames above have returned unseen.
innermost_chain(Above) ->
    case lists:reverse(Above) of
        [First | Inner] -> lists:reverse([First | lists:takewhile(fun({_, _, Kind}) -> Kind =:= tail end, Inner)]);
        [] -> []
    end.

%% Below the outermost function there is a caller that is not on the stack.
called_from_elsewhere(MFA, Caller, #p{stack = [{Entry, _, _}], base = Base, exact = Exact} = P, S) ->
    IsTail = lists:member(MFA, maps:get(Entry, S#s.tails, [])),
    if
        Exact, Caller =:= Base -> tail(MFA, P, S);
        Exact -> left(call, MFA, Caller, P, S);
        IsTail -> tail(MFA, P#p{base = Caller}, S);
        true -> left(call, MFA, Caller, P, S)
    end;
called_from_elsewhere(MFA, Caller, #p{stack = Stack, base = Base} = P, S) ->
    Inner = lists:any(fun({_, _, Kind}) -> Kind =:= real end, lists:droplast(Stack)),
    if
        Caller =:= Base -> tail(MFA, P#p{stack = innermost_chain(Stack)}, S);
        Inner, is_tuple(Caller) -> {P1, S1} = pushed(Caller, real, P, S), push(MFA, real, P1, S1);
        true -> left(call, MFA, Caller, P, S)
    end.

%% The call has ended; the event belongs to what comes after.
left(call, MFA, Caller, #p{last = Ts} = P, S) ->
    #s{procs = #{} = Procs} = S1 = end_call(P, S),
    case Procs of
        #{} when is_map_key(P#p.pid, Procs) -> happened(call, MFA, Caller, Ts, map_get(P#p.pid, Procs), S1);
        _ -> S1
    end.

regrow(MFA, Caller, P, S) ->
    {P1, S1} = case Caller of
        {_, _, _} -> pushed(Caller, real, P#p{stack = []}, S);
        _ -> {P#p{stack = []}, S}
    end,
    push(MFA, real, P1#p{base = Caller}, S1).

push(MFA, Kind, P, S) ->
    {P1, S1} = pushed(MFA, Kind, P, S),
    weigh(P#p.owner, top(P1), 3, 1),
    keep(P1, S1).

pushed(MFA, Kind, #p{stack = [{MFA, Node, _} | _] = Stack} = P, S) ->
    {P#p{stack = [{MFA, Node, Kind} | Stack]}, S};
pushed(MFA, Kind, #p{stack = Stack} = P, S) ->
    {Node, S1} = child(top(P), MFA, S),
    {P#p{stack = [{MFA, Node, Kind} | Stack]}, S1}.

tail(MFA, #p{stack = Stack} = P, S) ->
    {Chain, Below} = lists:splitwith(fun({_, _, Kind}) -> Kind =:= tail end, Stack),
    First = case Below of [Real | _] -> Chain ++ [Real]; [] -> Chain end,
    case lists:keymember(MFA, 1, First) of
        true ->
            Folded = lists:dropwhile(fun({Name, _, _}) -> Name =/= MFA end, Stack),
            P1 = P#p{stack = Folded},
            weigh(P#p.owner, top(P1), 3, 1),
            keep(P1, S);
        false -> push(MFA, tail, P, S)
    end.

returned(To, #p{stack = Stack} = P, S) ->
    Rest = case lists:dropwhile(fun({_, _, Kind}) -> Kind =:= tail end, Stack) of
        [_ | Below] -> Below;
        [] -> []
    end,
    case lists:dropwhile(fun({MFA, _, _}) -> MFA =/= To end, Rest) of
        [] when P#p.open -> unfollow_if_left(P#p{stack = [], base = To}, S);
        [] -> end_call(P, S);
        Found -> unfollow_if_left(P#p{stack = Found}, S)
    end.

scheduled_out(MFA, #p{stack = [{Entry, _, _}], open = false, exact = false} = P, S) when MFA =/= Entry ->
    end_call(P, S);
scheduled_out(MFA, P, S) ->
    {Off, S1} = child(top(P), {off, MFA}, S),
    weigh(P#p.owner, Off, 3, 1),
    keep(P#p{class = off, off = Off}, S1).

scheduled_in(_, P, S) ->
    keep(P#p{class = run}, S).

%% ---- Following a call to another process ----

follow(Target, Pid, Ts, #s{procs = Procs} = S) ->
    Other = if is_pid(Target) -> Target; is_atom(Target) -> whereis(Target); true -> none end,
    case Procs of
        #{Pid := #p{stack = [{_, Node, _} | _], follow = none} = P} when is_pid(Other), not is_map_key(Other, Procs) ->
            {Root, S1} = child(Node, {process, role(Other), process_name(Other)}, S),
            weigh(P#p.owner, Root, 3, 1),
            Q = #p{pid = Other, owner = P#p.owner, open = true, root = Root, last = Ts, since = Ts},
            S1#s{procs = Procs#{Pid := P#p{follow = {Other, Node}}, Other => Q}};
        _ -> S#s{not_followed = S#s.not_followed + 1}
    end.

unfollow_if_left(#p{follow = none} = P, S) -> keep(P, S);
unfollow_if_left(#p{follow = {Other, Node}, stack = Stack, last = Ts} = P, S) ->
    case lists:keymember(Node, 2, Stack) of
        true -> keep(P, S);
        false -> unfollow(Other, Ts, keep(P#p{follow = none}, S))
    end.

unfollow(Other, Ts, #s{procs = Procs} = S) ->
    case Procs of
        #{Other := Q} ->
            Q1 = elapse(Q, Ts),
            S1 = S#s{procs = maps:remove(Other, Procs)},
            S2 = case Q1#p.follow of {Next, _} -> unfollow(Next, Ts, S1); none -> S1 end,
            dismiss(Other, S2);
        _ -> S
    end.

%% ---- The end of a call ----

end_call(#p{open = true} = P, S) ->
    forget(P, settle(P, S));
end_call(#p{pid = Pid, since = Since, last = Ts} = P, S) ->
    S1 = case P#p.follow of {Other, _} -> unfollow(Other, Ts, S); none -> S end,
    Weights = get(Pid),
    S2 = slower(Ts - Since, Pid, Weights, S1),
    settle(P, S2),
    put(Pid, #{}),
    outside(P#p{stack = [], follow = none, class = run}, S2#s{calls = S2#s.calls + 1, seen = S2#s.seen + Ts - Since}).

%% Adds a call's weights to those of all calls.
settle(#p{owner = Owner}, S) ->
    case erase(Owner) of
        undefined -> S;
        Weights ->
            All = get(weights),
            put(weights, maps:fold(fun add_weight/3, All, Weights)),
            S
    end.

add_weight(Key, Amount, All) ->
    case All of
        #{Key := Old} -> All#{Key := Old + Amount};
        _ -> All#{Key => Amount}
    end.

slower(Took, Pid, Weights, #s{slowest = none} = S) -> S#s{slowest = {Took, Pid, Weights}};
slower(Took, Pid, Weights, #s{slowest = {Before, _, _}} = S) when Took > Before -> S#s{slowest = {Took, Pid, Weights}};
slower(_, _, _, S) -> S.

%% ---- Nodes ----

child(Parent, Key, #s{count = Count} = S) ->
    Known = get(nodes),
    case Known of
        #{{Parent, Key} := Node} -> {Node, S};
        _ when Count >= S#s.most_nodes, Parent > 0 -> {Parent, S#s{unplaced = S#s.unplaced + 1}};
        _ ->
            Node = Count + 1,
            put(nodes, Known#{{Parent, Key} => Node}),
            {Node, S#s{count = Node}}
    end.

%% ---- Pauses, and the look around ten times a second ----

pause(#s{procs = Procs, tracing = Tracing, window = Window} = S) ->
    hide_entries(S),
    [quieten(Pid, Tracing) || Pid <- maps:keys(Procs)],
    %% Four times what the events have cost, at some 1.5 µs each: the observed processes get most of
    %% the time for themselves.
    erlang:send_after(max(20, Window * 6 div 1000), self(), pause_over),
    S#s{pausing = true}.

resume(#s{procs = Procs} = S) ->
    S1 = S#s{pausing = false, window = 0, windows = S#s.windows + 1},
    Awake = lists:foldl(fun wake/2, S1, maps:values(Procs)),
    set_again(Awake),
    Awake.

set_again(#s{entries = Entries, tracing = Tracing}) ->
    Spec = [{'_', [], [{trace, [], {const, own_flags(Tracing)}}, {message, false}]}],
    [change_pattern(MFA, Spec, [meta], Tracing) || MFA <- Entries].

%% Finds a process again: its innermost frames now, on what is known of its stack.
wake(#p{pid = Pid, open = false, stack = []} = P, S) when Pid =/= none ->
    forget(P, S);
wake(#p{pid = Pid} = P, #s{tracing = Tracing, procs = Procs} = S) ->
    case process_info(Pid, [status, current_stacktrace]) of
        undefined -> gone(P, S);
        [{status, Status}, {current_stacktrace, Trace}] ->
            Frames = [{M, F, A} || {M, F, A, _} <- Trace],
            case place(Frames, P, S) of
                outside -> gone(P, S);
                {P1, S1} ->
                    Now = erlang:monotonic_time(nanosecond),
                    Unseen = if P#p.last =:= none -> 0; true -> Now - P#p.last end,
                    Waits = Status =:= waiting,
                    {P2, S2} = if
                        Waits ->
                            {Off, S3} = child(top(P1), {off, hd(Frames ++ [none])}, S1),
                            {P1#p{class = off, off = Off}, S3};
                        true -> {P1#p{class = run}, S1}
                    end,
                    flag(Pid, true, flags(Tracing), Tracing),
                    Since = if P#p.since =:= none -> Now; true -> P#p.since end,
                    S2#s{procs = Procs#{Pid => P2#p{last = Now, since = Since}}, unseen = S2#s.unseen + Unseen}
            end
    end.

gone(#p{open = true} = P, S) ->
    settle(P, S),
    S#s{procs = maps:remove(P#p.pid, S#s.procs)};
gone(#p{stack = []} = P, S) ->
    forget(P, S);
gone(P, S) ->
    settle(P, S),
    forget(P, S#s{cut = S#s.cut + 1}).

place(Frames, #p{stack = Stack, open = Open} = P, S) ->
    Outwards = lists:reverse(Frames),
    case lists:dropwhile(fun(MFA) -> not lists:keymember(MFA, 1, Stack) end, Outwards) of
        [Known | Inner] ->
            Below = lists:dropwhile(fun({MFA, _, _}) -> MFA =/= Known end, Stack),
            {P1, S1} = push_all(Inner, P#p{stack = Below}, S),
            {P1, S1};
        [] when Open -> push_all(Outwards, P#p{stack = []}, S);
        [] when length(Frames) < 8 -> outside;
        [] -> push_all(Outwards, P#p{stack = [lists:last(Stack)]}, S)
    end.

push_all(Frames, P, S) ->
    lists:foldl(fun(MFA, {P1, S1}) -> pushed(MFA, real, P1, S1) end, {P, S}, Frames).

tick(#s{clearing = Clearing, procs = Procs, tracing = Tracing} = S) ->
    erlang:send_after(50, self(), tick),
    [flag(Pid, false, [arity], Tracing) || Pid <- lists:usort(Clearing), not is_map_key(Pid, Procs)],
    S1 = S#s{clearing = []},
    Now = erlang:monotonic_time(nanosecond),
    Silent = [P || #p{last = Last} = P <- maps:values(Procs), Now - Last > 200000000],
    if
        S#s.pausing -> S1;
        true -> lists:foldl(fun still_there/2, S1, Silent)
    end.

%% A process that has said nothing for long may have ended, or lost its flags to an earlier call's end.
still_there(#p{pid = Pid} = P, #s{tracing = Tracing} = S) ->
    case flags_of(Pid, Tracing) of
        {flags, [_ | _] = Flags} ->
            case lists:member(call, Flags) of
                true -> S;
                false -> gone(P, S)
            end;
        _ -> gone(P, S)
    end.

flags_of(Pid, #{session := none}) -> catch erlang:trace_info(Pid, flags);
flags_of(Pid, #{session := Session}) -> catch apply(trace, info, [Session, Pid, flags]).

%% ---- The result ----

tree_result(#s{to = To, tracing = Tracing, procs = Procs, entries = Entries} = S) ->
    hide_entries(S),
    [quieten(Pid, Tracing) || Pid <- maps:keys(Procs)],
    Total = lists:sum([counted(MFA, Tracing) || MFA <- Entries]),
    Backlog = mailbox(),
    Now = erlang:monotonic_time(nanosecond),
    Last = lists:foldl(fun(P, Acc) -> unfinished(P, Now, Acc) end, S, maps:values(Procs)),
    close_tracing(Tracing),
    Waits = waits(get(nodes)),
    send_nodes(To, nodes, get(nodes), get(weights), Waits),
    Slowest = case Last#s.slowest of
        none -> none;
        {Took, Pid, Weights} ->
            send_nodes(To, slowest, get(nodes), Weights, Waits),
            #{took_ns => Took, pid => Pid}
    end,
    #{stopped_by => S#s.stop, events => S#s.events, events_dropped => Backlog, calls => Last#s.calls, calls_cut => Last#s.cut,
        calls_on_node => Total, calls_per_second => S#s.rate, windows => S#s.windows,
        elapsed_ns => Now - S#s.started, seen_ns => max(0, Last#s.seen - Last#s.unseen), unseen_ns => Last#s.unseen,
        nodes => S#s.count, unplaced => S#s.unplaced, not_followed => S#s.not_followed,
        gc_traced => map_get(gc, Tracing), slowest => Slowest}.

%% What a call that has not ended has used so far counts; the call itself does not.
unfinished(#p{open = false, stack = []}, _, S) -> S;
unfinished(#p{owner = Owner, pid = Pid} = P, Now, S) ->
    Unseen = case S#s.pausing of
        false -> elapse(P, Now), 0;
        true -> Now - P#p.last
    end,
    settle(P, S),
    S1 = S#s{unseen = S#s.unseen + Unseen},
    Took = Now - P#p.since,
    if
        not P#p.open -> S1#s{seen = S#s.seen + Took, cut = S#s.cut + 1};
        Owner =:= Pid -> S1#s{seen = S#s.seen + Took};
        true -> S
    end.

%% `{Id, Parent, Key, Calls, RunNs, WaitNs, RunnableNs, GcNs}`, parents first. What a process was
%% scheduled out in is put to the function itself.
send_nodes(To, What, Nodes, Weights, Waits) ->
    Sorted = lists:sort([{Id, Parent, Key} || {{Parent, Key}, Id} <- maps:to_list(Nodes)]),
    Rows = [node_row(Id, Parent, Key, Weights, Waits) || {Id, Parent, Key} <- Sorted],
    send_rows(To, What, [Row || Row <- Rows, What =:= nodes orelse is_heavy(Row)]).

is_heavy({_, _, _, Calls, Run, Wait, Runnable, Gc}) -> Calls + Run + Wait + Runnable + Gc > 0.

node_row(Id, Parent, Key, Weights, Waits) ->
    [Run, Off, Gc, Calls] = [maps:get(Id bsl 2 bor Kind, Weights, 0) || Kind <- [0, 1, 2, 3]],
    case Key of
        {off, MFA} ->
            %% Without the code: nobody is made to wait for a scheduler a millisecond on average.
            Waited = case maps:get(MFA, Waits, true) of
                unknown -> Off > Calls * 1000000;
                Known -> Known
            end,
            case Waited of
                true -> {Id, Parent, {off, MFA}, Calls, Run, Off, 0, Gc};
                false -> {Id, Parent, {off, MFA}, Calls, Run, 0, Off, Gc}
            end;
        _ -> {Id, Parent, Key, Calls, Run, Off, 0, Gc}
    end.

send_rows(_, _, []) -> ok;
send_rows(To, What, Rows) ->
    {Now, Later} = lists:split(min(1000, length(Rows)), Rows),
    event(To, {What, Now}),
    send_rows(To, What, Later).

%% ---- What the code of a function says ----

%% Of each function that a process was scheduled out in: does it wait for messages there? Else it was
%% put back because its time was up, and was runnable.
waits(Nodes) ->
    Functions = lists:usort([MFA || {_, {off, MFA}} <- maps:keys(Nodes)]),
    maps:from_list([{MFA, is_waiting(MFA)} || MFA <- Functions]).

is_waiting({erlang, Name, _}) -> lists:member(Name, [hibernate, port_command, send, dist_ctrl_get_data]);
is_waiting({prim_inet, _, _}) -> true;
is_waiting({erts_internal, Name, _}) -> lists:prefix("await", atom_to_list(Name));
is_waiting({_, _, _} = MFA) ->
    case code_of(MFA) of
        unknown -> unknown;
        Code -> lists:any(fun is_receive/1, Code)
    end;
is_waiting(_) -> true.

is_receive(Instruction) when is_tuple(Instruction) ->
    lists:member(element(1, Instruction), [loop_rec, wait, wait_timeout]);
is_receive(_) -> false.

%% The functions that each entry ends in a call of.
tails_of(Entries) ->
    maps:from_list([{Entry, tails_in(code_of(Entry))} || Entry <- Entries]).

tails_in(unknown) -> [];
tails_in(Code) ->
    lists:usort(lists:append([tail_in(Instruction) || Instruction <- Code])).

tail_in({call_only, _, {_, _, _} = MFA}) -> [MFA];
tail_in({call_last, _, {_, _, _} = MFA, _}) -> [MFA];
tail_in({call_ext_only, _, {extfunc, M, F, A}}) -> [{M, F, A}];
tail_in({call_ext_last, _, {extfunc, M, F, A}, _}) -> [{M, F, A}];
tail_in(_) -> [].

%% A function's code from its module's file, taken apart in a process of its own.
code_of({Module, Name, Arity}) ->
    Self = self(),
    Work = fun() -> Self ! {self(), disassembled(Module, Name, Arity)} end,
    {Pid, Monitor} = spawn_opt(Work, [monitor | limits(134217728)]),
    receive
        {Pid, Code} -> erlang:demonitor(Monitor, [flush]), Code;
        {'DOWN', Monitor, _, _, _} -> unknown
    end.

disassembled(Module, Name, Arity) ->
    case code:get_object_code(Module) of
        {_, Beam, _} ->
            case beam_disasm:file(Beam) of
                {beam_file, _, _, _, _, Functions} ->
                    case [Code || {function, F, A, _, Code} <- Functions, F =:= Name, A =:= Arity] of
                        [Code] -> Code;
                        _ -> unknown
                    end;
                _ -> unknown
            end;
        error -> unknown
    end.
