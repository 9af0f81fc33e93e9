
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
    woken = none,       % when it was found again: what happened before is known from its stack
    follow = none,      % {Pid that this one waits for, node of the call that waits}
    idle = 0            % events since the call ended
}).

-record(s, {
    to, tracing, budget, entries = [], tails = #{}, procs = #{}, pausing = false,
    hidden = false,     % the functions asked for arm nobody now
    count = 0, most_nodes, slowest = none,
    held = [],          % events that others may still come before, newest first
    held_count = 0,
    lingering = #{},    % processes that were followed, are traced still, and since when nobody waits for them
    calls = 0, cut = 0, most_calls, at_once, role = any, follow = false, not_followed = 0,
    events = 0, window = 0, window_events, windows = 1,
    seen = 0, unseen = 0, unplaced = 0, clearing = #{}, rate = 0, stop = none, started = 0
}).

flags() -> [call, return_to, running, exiting, arity, monotonic_timestamp].

flags(#{gc := true}) -> [garbage_collection | flags()];
flags(_) -> flags().

calltree(#{args := Args} = To) ->
    known_role(Args),
    Budget = budget(To, #{max_events => 2000000, duration_ms => 10000, max_mailbox => 20000,
        max_bytes => 50331648, max_node_memory_bytes => 50331648}),
    Entries = case Args of
        #{module := _} -> must_exist(pattern_of(Args));
        _ -> []
    end,
    {Candidates, Chosen} = case Args of #{who := Who} -> busiest_of(chosen(Who)); _ -> {0, []} end,
    Tracing = open_tracing(To),
    refuse_patterned(Tracing, {'_', '_', '_'}),
    {Rate, Counting} = call_rate(Args, Entries, 150, Tracing),
    Armed = set_wide(take_word(Counting), maps:get(follow, Args, false)),
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
    State#s.follow andalso (self() ! in_order),
    Set = set_entries(State),
    admit(Set),
    Opened = start_open(Chosen, Set),
    still_alone(Opened#s.tracing),
    Ended = tree_loop(Opened),
    (tree_result(Ended))#{processes => length(Chosen), candidates => Candidates}.

pattern_of(#{module := M, function := F} = Args) ->
    case {existing_atom(M), existing_atom(F), maps:get(arity, Args, '_')} of
        {'_', _, _} = Pattern when Pattern =/= {'_', '_', '_'} -> not_a_pattern();
        {_, '_', Arity} when Arity =/= '_' -> not_a_pattern();
        Pattern -> Pattern
    end.

not_a_pattern() ->
    throw({refused, bad_pattern, "`_` for a module stands for all its functions, and for a function for any number of arguments: "
        "_:_, module:_, module:function"}).

existing_atom('_') -> '_';
existing_atom(Text) when is_atom(Text) -> Text;
existing_atom(Text) ->
    try binary_to_existing_atom(Text, utf8)
    catch error:badarg -> throw({refused, no_such_function, io_lib:format("nothing on the node is called ~ts", [Text])})
    end.

set_wide(Tracing, Follow) ->
    Quiet = quiet_by_word(Tracing),
    Wide = set_pattern({'_', '_', '_'}, Quiet ++ [{'_', [], [{message, {caller}}]}], [local], Tracing),
    leave_out_own(local, Wide),
    Follow andalso change_pattern({gen, do_call, 4},
        Quiet ++ [{['$1', '_', '_', '_'], [], [{trace, '$1', [], {const, own_flags(Wide)}}, {message, {{{const, follow}, '$1', {caller}}}}]}],
        [local], Wide),
    Wide.

%% Of us nothing is recorded.
leave_out_own(Kind, #{session := none}) -> erlang:trace_pattern({?MODULE, '_', '_'}, false, [Kind]);
leave_out_own(Kind, Tracing) -> drop_pattern({?MODULE, '_', '_'}, [Kind], Tracing).

%% While the word is 0, whoever is traced goes quiet with its next call.
quiet_by_word(#{word := true}) ->
    [{'_', [{'=:=', {get_tcw}, 0}], [{trace, {const, loud_flags()}, []}, {message, false}]}];
quiet_by_word(_) -> [].

%% Flags for a process that a match specification names.
own_flags(#{session := none, tracer := Tracer} = Tracing) -> [{tracer, Tracer} | flags(Tracing)];
own_flags(Tracing) -> flags(Tracing).

set_entries(#s{entries = Entries} = S) ->
    lists:foldl(fun set_entry/2, S, Entries).

set_entry(MFA, #s{tracing = Tracing} = S) ->
    S#s{tracing = set_pattern(MFA, arming(Tracing), [meta], Tracing)}.

%% Whoever calls the function is traced from there on: with the word so many as it admits beyond 1.
arming(#{word := true} = Tracing) ->
    Less = {set_tcw, {'-', {get_tcw}, 1}},
    [{'_', [{'>', {get_tcw}, 1}], [Less, {trace, [], {const, own_flags(Tracing)}}, {message, false}]}, {'_', [], [{message, false}]}];
arming(Tracing) -> [{'_', [], [{trace, [], {const, own_flags(Tracing)}}, {message, false}]}].

%% Admits as many as there is room for. Some that were admitted make no call and are never heard of, so
%% that this is said again from time to time.
admit(#s{pausing = false, tracing = #{word := true} = Tracing, procs = Procs, at_once = Most}) ->
    set_word(1 + max(0, Most - map_size(Procs)), Tracing);
admit(_) -> ok.

hide_entries(#s{tracing = #{word := true} = Tracing} = S) ->
    set_word(1, Tracing),
    S#s{hidden = true};
hide_entries(#s{entries = Entries, tracing = Tracing} = S) ->
    [drop_pattern(MFA, [meta], Tracing) || MFA <- Entries],
    S#s{hidden = true}.

%% Nobody else is armed while as many as may be are recorded: on a function that everybody calls, the
%% events of those that are made quiet again would be more than those that are used.
hide_when_full(#s{hidden = false, procs = Procs, at_once = Most, entries = [_ | _]} = S) when map_size(Procs) >= Most ->
    hide_entries(S);
hide_when_full(S) -> S.

show_entries(#s{tracing = #{word := true}} = S) ->
    admit(S),
    S#s{hidden = false};
show_entries(#s{hidden = true, pausing = false, procs = Procs, at_once = Most, entries = Entries, tracing = Tracing} = S)
        when map_size(Procs) < Most ->
    [change_pattern(MFA, arming(Tracing), [meta], Tracing) || MFA <- Entries],
    S#s{hidden = false};
show_entries(S) -> S.

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
        {trace_ts, Pid, What, About, Ts} -> tree_loop(arrived({Ts, Pid, What, without_arguments(About), none}, S));
        {trace_ts, Pid, call, MFA, Caller, Ts} -> tree_loop(arrived({Ts, Pid, call, without_arguments(MFA), Caller}, S));
        in_order ->
            erlang:send_after(5, self(), in_order),
            tree_loop(in_order(long_ago(), S));
        tick -> tree_loop(tick(S));
        pause_over -> tree_loop(resume(S));
        time_is_up -> tree_loop(S#s{stop = duration});
        cancel -> tree_loop(S#s{stop = cancelled});
        {credit, N} -> add_credit(N), tree_loop(S);
        look_at_memory ->
            case over_memory(S#s.budget) of
                none -> tree_loop(S);
                Stop -> tree_loop(S#s{stop = Stop})
            end;
        _ -> tree_loop(S)
    end;
%% What is held back still belongs to the record.
tree_loop(S) -> in_order(infinity, S).

%% Who loses the flag `arity` before `call` sends a call with its arguments. They are nobody's business here.
without_arguments({M, F, Arguments}) when is_list(Arguments) -> {M, F, length(Arguments)};
without_arguments(About) -> About.

%% The events of one process come in order. Those of several, of which one waits for another, may not:
%% the node keeps an event back for a moment while somebody else is sending.
%% They are not left to pile up where there are too many: the mailbox is off the heap, and this is not.
arrived(Event, #s{follow = false} = S) -> counted_event(Event, S);
arrived(Event, #s{held = Held, held_count = Before} = S) ->
    Holding = S#s{held = [Event | Held], held_count = Before + 1},
    if
        Before rem 4096 =:= 4095 -> in_order(long_ago(), Holding);
        true -> Holding
    end.

%% Whatever happened before that has arrived.
long_ago() -> erlang:monotonic_time(nanosecond) - 10000000.

in_order(Before, #s{held = Held} = S) ->
    {Later, Now} = lists:partition(fun(Event) -> element(1, Event) > Before end, Held),
    Holding = S#s{held = Later, held_count = length(Later)},
    lists:foldl(fun counted_event/2, Holding, lists:keysort(1, lists:reverse(Now))).

counted_event(_, #s{events = Events, budget = #{max_events := Most}} = S) when Events > Most -> S;
counted_event({Ts, Pid, What, About, Caller}, #s{events = Events, window = Window} = S0) ->
    S = hide_when_full(event(What, Pid, About, Caller, Ts, S0#s{events = Events + 1, window = Window + 1})),
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
        #{Pid := #p{woken = Woken}} when is_integer(Woken), Ts < Woken -> S;
        #{Pid := P} -> happened(What, About, Caller, Ts, P, S);
        _ -> stranger(What, Pid, About, Caller, Ts, S)
    end.

%% The first event of a process. Only a call tells whether it is inside the function.
stranger(_, Pid, _, _, _, #s{lingering = Lingering} = S) when is_map_key(Pid, Lingering) -> S;
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
                        true -> enter(Entry, caller_of(Caller), true, Ts, P, S1);
                        false ->
                            S2 = enter(Entry, none, false, Ts, P, S1),
                            happened(call, MFA, Caller, Ts, map_get(Pid, S2#s.procs), S2)
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
            S2 = enter(MFA, none, false, Ts, P, S1),
            happened(out, MFA, none, Ts, map_get(Pid, S2#s.procs), S2);
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

%% Once between two ticks: its events that are on their way already need not stop it again, and to stop a
%% process is to wait until it does not run.
dismiss(Pid, #s{clearing = Clearing} = S) when is_map_key(Pid, Clearing) -> S;
dismiss(Pid, #s{tracing = Tracing, clearing = Clearing} = S) ->
    quieten(Pid, Tracing),
    S#s{clearing = Clearing#{Pid => true}}.

%% A call of the function has begun.
enter(Entry, Base, Exact, Ts, #p{root = Root, owner = Owner} = P, S) ->
    {Node, S1} = child(Root, Entry, S),
    weigh(Owner, Node, 3, 1),
    keep(P#p{entry = Entry, stack = [{Entry, Node, real}], base = Base, exact = Exact, class = run, last = Ts, since = Ts, idle = 0}, S1).
