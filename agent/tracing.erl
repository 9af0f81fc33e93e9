
%% ---- Tracing: trace sessions from OTP 27 on, the node's only tracer before ----

%% What of `erlang:trace` is safe where (the gate, gate.erl, refuses what is not):
%% - never one of the words for all existing processes: processes are named one by one;
%% - never `restart` of counters that are being counted;
%% - `running` is cleared some time before the tracer is: a process that is put on a dirty scheduler
%%   in between would look for a tracer that is gone (erlang/otp#6448);
%% - no `garbage_collection` in two sessions of one process.

%% Begins to trace. Refuses when somebody else traces: what is there is shared on OTP 25 and 26.
open_tracing(#{otp := Otp} = To) when Otp >= 27 ->
    Session = apply(trace, session_create, [?MODULE, self(), []]),
    announce(To, #{session => Session}),
    Safe = known_crash(collections_twice, erts_version(erlang:system_info(version))) =:= none,
    #{session => Session, tracer => self(), to => To, gc => Safe orelse traces_alone(Session)};
open_tracing(To) ->
    case [Pid || Pid <- [new | processes()], is_traced(Pid)] of
        [] -> ok;
        [Pid | _] ->
            throw({refused, traced_already, io_lib:format(
                "somebody else is tracing on this node (~p); on OTP 25 and 26 there is one tracer for all, "
                "so rabbitscope leaves it alone", [Pid])})
    end,
    #{session => none, tracer => self(), to => To, gc => true}.

%% Whether nobody else can have a process's collections traced. The node has a session of its own, for
%% those who trace without one; the second half of ours is what it is listed as.
traces_alone({_, Listed}) ->
    [] =:= apply(trace, session_info, [all]) -- [Listed, {legacy, default}]
        andalso not lists:any(fun is_traced/1, processes()).

is_traced(Pid) ->
    case erlang:trace_info(Pid, flags) of
        {flags, [_ | _]} -> true;
        _ -> false
    end.

%% Refuses when a function of the pattern has a trace pattern of somebody else.
refuse_patterned(#{session := none}, Pattern) ->
    Kinds = [traced, meta, call_count, call_time, call_memory],
    Foreign = [MFA || MFA <- functions_of(Pattern), lists:any(fun(Kind) -> is_patterned(MFA, Kind) end, Kinds)],
    case Foreign of
        [] -> ok;
        [{M, F, A} | _] ->
            throw({refused, traced_already, io_lib:format(
                "somebody else has set a trace pattern on ~tw:~tw/~b; rabbitscope leaves it alone", [M, F, A])})
    end;
refuse_patterned(_, _) ->
    ok.

is_patterned(MFA, Kind) ->
    case catch erlang:trace_info(MFA, Kind) of
        {_, false} -> false;
        {_, undefined} -> false;
        {'EXIT', _} -> false;
        _ -> true
    end.

%% The functions that are loaded and match `{M, F, A}`, each of which may be '_'.
functions_of({M, F, A}) ->
    Modules = if M =:= '_' -> [Module || {Module, _} <- code:all_loaded()]; true -> [M] end,
    [{Module, Name, Arity} || Module <- Modules, Module =/= ?MODULE,
        {Name, Arity} <- try Module:module_info(functions) catch _:_ -> [] end,
        F =:= '_' orelse F =:= Name, A =:= '_' orelse A =:= Arity].

%% Names the function that is asked for; loads nothing.
must_exist({M, F, A} = Pattern) ->
    case functions_of(Pattern) of
        [] ->
            Arity = if is_integer(A) -> integer_to_list(A); true -> "any" end,
            throw({refused, no_such_function, case erlang:module_loaded(M) of
                false -> io_lib:format("module ~tw is not loaded on the node", [M]);
                true -> io_lib:format("~tw has no function ~tw with ~s arguments", [M, F, Arity])
            end});
        Found -> Found
    end.

%% Sets a pattern. Everything set so far is known to the keeper before.
set_pattern(Pattern, Spec, Kinds, Tracing) ->
    pass_pattern(Spec, Kinds),
    set_passed(Pattern, Spec, Kinds, Tracing).

set_passed(Pattern, Spec, Kinds, #{session := none} = Tracing) ->
    Set = [{Pattern, Kinds} | maps:get(patterns, Tracing, [])],
    Now = Tracing#{patterns => Set},
    announce(maps:get(to, Tracing), maps:with([session, tracer, patterns, word], Now)),
    Spec =:= false orelse erlang:trace_pattern(Pattern, Spec, with_tracer(Kinds)),
    Now;
set_passed(Pattern, Spec, Kinds, #{session := Session} = Tracing) ->
    apply(trace, function, [Session, Pattern, Spec, Kinds]),
    Tracing.

with_tracer([meta]) -> [{meta, self()}];
with_tracer(Kinds) -> Kinds.

drop_pattern(Pattern, Kinds, #{session := none}) ->
    catch erlang:trace_pattern(Pattern, false, Kinds);
drop_pattern(Pattern, Kinds, #{session := Session}) ->
    catch apply(trace, function, [Session, Pattern, false, Kinds]).

%% Another specification for a pattern that is set already.
change_pattern(Pattern, Spec, Kinds, Tracing) ->
    pass_pattern(Spec, Kinds),
    change_passed(Pattern, Spec, Kinds, Tracing).

change_passed(Pattern, Spec, Kinds, #{session := none}) ->
    erlang:trace_pattern(Pattern, Spec, with_tracer(Kinds));
change_passed(Pattern, Spec, Kinds, #{session := Session}) ->
    apply(trace, function, [Session, Pattern, Spec, Kinds]).

pattern_info(MFA, Item, #{session := none}) -> erlang:trace_info(MFA, Item);
pattern_info(MFA, Item, #{session := Session}) -> apply(trace, info, [Session, MFA, Item]).

%% The trace control word: a number of the node that match specifications read and set on the spot, while
%% to change patterns or another process's flags is to wait until nobody runs what is changed. Only taken
%% when nobody else uses it.
take_word(#{to := To} = Tracing) ->
    case erlang:system_info(trace_control_word) of
        0 ->
            Taken = Tracing#{word => true},
            announce(To, maps:with([session, tracer, patterns, word], Taken)),
            Taken;
        _ -> Tracing#{word => false}
    end.

set_word(N, #{word := true}) -> erlang:system_flag(trace_control_word, N).

give_word_back(#{word := true} = Tracing) -> set_word(0, Tracing);
give_word_back(_) -> ok.

%% Flags on one process. A process that has ended, or that somebody else traces by now, is no error.
flag(Pid, On, Flags, Tracing) ->
    pass_flags(Pid),
    flag_passed(Pid, On, Flags, Tracing).

flag_passed(Pid, On, Flags, #{session := none, tracer := Tracer}) ->
    More = if On -> [{tracer, Tracer} | Flags]; true -> Flags end,
    (catch erlang:trace(Pid, On, More)) =:= 1;
flag_passed(Pid, On, Flags, #{session := Session}) ->
    (catch apply(trace, process, [Session, Pid, On, Flags])) =:= 1.

%% First step: no more events, but the tracer stays (`arity` alone makes none). See above.
quieten(Pid, Tracing) ->
    flag(Pid, false, loud_flags(), Tracing).

loud_flags() -> [call, return_to, running, garbage_collection, monotonic_timestamp].

%% Ends the tracing: patterns, then events, then tracers.
close_tracing(#{session := none, tracer := Tracer, to := To} = Tracing) ->
    give_word_back(Tracing),
    [drop_pattern(Pattern, Kinds, Tracing) || {Pattern, Kinds} <- maps:get(patterns, Tracing, [])],
    Mine = traced_by(Tracer),
    [quieten(Pid, Tracing) || Pid <- Mine],
    catch erlang:trace(new_processes, false, [all]),
    timer:sleep(2),
    [catch erlang:trace(Pid, false, [all]) || Pid <- traced_by(Tracer)],
    announce(To, #{session => none, tracer => Tracer, patterns => []});
close_tracing(#{session := Session} = Tracing) ->
    give_word_back(Tracing),
    catch apply(trace, session_destroy, [Session]).

%% After a probe that could not do it itself. Its tracer is dead: the node clears such flags when it
%% is asked for them.
disarm(none) -> ok;
disarm(#{session := none, tracer := Tracer, patterns := Patterns} = Armed) ->
    give_word_back(Armed),
    [drop_pattern(Pattern, Kinds, Armed) || {Pattern, Kinds} <- Patterns],
    [catch erlang:trace(Pid, false, [all]) || Pid <- traced_by(Tracer)],
    case catch erlang:trace_info(new, tracer) of
        {tracer, Tracer} -> catch erlang:trace(new_processes, false, [all]);
        _ -> ok
    end,
    ok;
disarm(#{session := Session} = Armed) ->
    give_word_back(Armed),
    catch apply(trace, session_destroy, [Session]),
    ok.

%% Everybody whom this tracing has flags on.
all_traced(#{session := none, tracer := Tracer}) -> traced_by(Tracer);
all_traced(#{session := Session}) ->
    [Pid || Pid <- processes(), {flags, [_ | _]} <- [catch apply(trace, info, [Session, Pid, flags])]].

traced_by(Tracer) ->
    [Pid || Pid <- processes(), erlang:trace_info(Pid, tracer) =:= {tracer, Tracer}].

%% ---- How often a function is called, before it is traced ----

%% Calls a second of all functions that match, from `Ms` milliseconds of counting.
call_rate(Functions, Ms, Tracing) ->
    Counted = lists:sublist(Functions, 50),
    Armed = lists:foldl(fun(MFA, T) -> set_pattern(MFA, true, [call_count], T) end, Tracing, Counted),
    timer:sleep(Ms),
    Calls = lists:sum([counted(MFA, Tracing) || MFA <- Counted]),
    {Calls * 1000 div Ms, Armed}.

counted(MFA, Tracing) ->
    case pattern_info(MFA, call_count, Tracing) of
        {call_count, N} when is_integer(N) -> N;
        _ -> 0
    end.
