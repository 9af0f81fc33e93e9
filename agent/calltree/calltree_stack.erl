%% Turns the events of one process into its stack, and adds times to the nodes of the call tree.
-module(calltree_stack).
-export([happened/6, keep/2, forget/2, elapse/2, top/1, weigh/4, pushed/4, follow_found/3, unfollow_if_left/2,
    unfollow/3, settle/2, child/3]).
-include("calltree.hrl").

happened(What, _, _, Ts, P, S) when What =:= out_exited; What =:= out_exiting; What =:= in_exiting ->
    exited(Ts, P, S);
happened(call, MFA, Caller, Ts, #p{open = false, stack = []} = P, S) ->
    %% Outside, and not quiet yet.
    case lists:member(MFA, S#s.entries) of
        true -> calltree:enter(MFA, calltree:caller_of(Caller), true, Ts, P, S);
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
happened(_, _, _, _, _, S) ->
    S.

keep(#p{pid = Pid} = P, #s{procs = Procs} = S) -> S#s{procs = Procs#{Pid => P}}.

%% Ends the call together with its process: at this time, however late the news arrives.
exited(Ts, #p{open = true, pid = Pid, owner = Owner}, S) when Owner =/= Pid ->
    unfollow(Pid, Ts, S);
exited(_, #p{open = false, stack = []} = P, S) ->
    forget(P, S);
exited(Ts, #p{pid = Pid} = P, S) ->
    S1 = end_call(elapse(P, Ts), S),
    case S1#s.procs of
        #{Pid := Ended} -> forget(Ended, S1);
        _ -> S1
    end.

%% Keeps the process for a moment. If it calls the function in a loop, it is measured exactly from its second
%% call on.
outside(#p{idle = Idle} = P, S) when Idle < 64 -> keep(P#p{idle = Idle + 1}, S);
outside(P, S) -> forget(P, S).

forget(#p{pid = Pid}, #s{procs = Procs} = S) ->
    erase(Pid),
    calltree:dismiss(Pid, S#s{procs = maps:remove(Pid, Procs)}).

%% Adds the time since the last event to the place of the process. While it waits for a followed process, the
%% time of the followed process stands instead.
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

%% Keeps the frames above a caller that return to it: the function that it called, and the tail calls of that
%% function. Frames above have returned unseen.
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
    Left = not P#p.exact andalso P#p.woken =:= none andalso is_tuple(Caller) andalso is_traced_function(Caller, S),
    if
        Caller =:= Base -> tail(MFA, P#p{stack = innermost_chain(Stack)}, S);
        Left -> left(call, MFA, Caller, P, S);
        Inner, is_tuple(Caller) -> {P1, S1} = pushed(Caller, real, P, S), push(MFA, real, P1, S1);
        true -> left(call, MFA, Caller, P, S)
    end.

%% A function with traced calls. If it calls although it is on no complete stack, the recorded call has ended
%% silently, by an exception: the return of a process's first call is not traced.
is_traced_function(Caller, #s{tracing = Tracing}) ->
    case catch tracing:pattern_info(Caller, match_spec, Tracing) of
        {match_spec, Spec} -> is_list(Spec);
        _ -> false
    end.

%% The call has ended; the event belongs to the code after it.
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

%% The call has set the flags. Flags of processes followed from an earlier call may have been removed since.
follow(Target, Pid, Ts, #s{procs = Procs, tracing = Tracing, lingering = Lingering} = S) ->
    Other = if is_pid(Target) -> Target; is_atom(Target) -> whereis(Target); true -> none end,
    case Procs of
        #{Pid := #p{stack = [{_, Node, _} | _], follow = none} = P} when is_pid(Other), not is_map_key(Other, Procs) ->
            {Root, S1} = child(Node, {process, roles:role(Other), roles:process_name(Other)}, S),
            weigh(P#p.owner, Root, 3, 1),
            is_map_key(Other, Lingering) orelse tracing:flag(Other, true, calltree:flags(Tracing), Tracing),
            Q = #p{pid = Other, owner = P#p.owner, open = true, root = Root, last = Ts, since = Ts},
            S1#s{procs = Procs#{Pid := P#p{follow = {Other, Node}}, Other => Q}, lingering = maps:remove(Other, Lingering)};
        _ -> S#s{not_followed = S#s.not_followed + 1}
    end.

%% A process in the middle of a call monitors the called process: `gen` does so for the length of the call.
follow_found(#p{pid = Pid, follow = none, last = Now}, true, #s{follow = true} = S) ->
    case process_info(Pid, monitors) of
        {monitors, [{process, Watched}]} ->
            Other = case Watched of {Name, Node} when Node =:= node() -> whereis(Name); _ -> Watched end,
            Following = follow(Other, Pid, Now, S),
            case Following#s.procs of
                #{Other := Q} when not is_map_key(Other, S#s.procs) -> calltree_pauses:wake(Q, Following);
                _ -> Following
            end;
        _ -> S
    end;
follow_found(_, _, S) -> S.

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
            %% Not dismissed at once: the next call may be on its way to it already.
            S2#s{lingering = (S2#s.lingering)#{Other => Ts}};
        _ -> S
    end.

%% ---- The end of a call ----

end_call(#p{open = true, since = Since, last = Ts} = P, S) ->
    settle(P, S),
    forget(P, S#s{seen = S#s.seen + Ts - Since});
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

