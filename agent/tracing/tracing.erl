%% Trace patterns, flags and tracers: trace sessions from OTP 27 on, the node's only tracer before.
-module(tracing).
-export([open_tracing/1, still_alone/1, refuse_patterned/2, functions_of/1, must_exist/1, set_pattern/4,
    drop_pattern/3, change_pattern/4, pattern_info/3, take_word/1, set_word/2, flag/4, quieten/2, loud_flags/0,
    close_tracing/1, disarm/1, all_traced/1, call_rate/4, all_counted/2, counted/2, leave_out_own/2,
    pattern_of/1]).

%% Rules for a safe use of `erlang:trace` (known_crashes.erl refuses what crashes the running version):
%% - flags are set on one process after the other, never with a word for all existing processes;
%% - counters that are counting are never restarted;
%% - `running` is cleared some time before the tracer is: a process that is put on a dirty scheduler
%%   in between would look for a tracer that is gone (erlang/otp#6448);
%% - no `garbage_collection` in two sessions of one process.

%% Begins to trace. OTP 25 and 26 have one tracer for all, so it refuses while another is active.
open_tracing(#{otp := Otp} = To) when Otp >= 27 ->
    Session = apply(trace, session_create, [?MODULE, self(), []]),
    request:announce(To, #{session => Session}),
    Safe = known_crashes:known_crash(collections_twice, known_crashes:erts_version(erlang:system_info(version))) =:= none,
    #{session => Session, tracer => self(), to => To, gc => Safe orelse traces_alone(Session)};
open_tracing(To) ->
    lock_tracing(To),
    refuse_tracers(self()),
    #{session => none, tracer => self(), to => To, gc => true}.

%% Takes the lock that lets one session of rabbitscope trace at a time. It is a named table: a second one cannot be
%% created, and the table ends with its process. Its row names the owner.
lock_tracing(#{controller := Controller, args := Args}) ->
    try
        ets:new(rabbitscope_tracing, [named_table]),
        ets:insert(rabbitscope_tracing, {by, maps:get(by, Args, <<>>), node(Controller)})
    catch error:badarg ->
        By = case catch ets:lookup(rabbitscope_tracing, by) of
            [{by, Text, Node}] when is_binary(Text) -> io_lib:format("~ts, ~ts", [Text, Node]);
            _ -> "another rabbitscope"
        end,
        refuse_traced(By)
    end.

refuse_traced(By) ->
    throw({refused, traced_already, io_lib:format(
        "another tracer is active on this node (~ts). OTP 25 and 26 have only one tracer, "
        "and rabbitscope leaves it alone; try again when it has ended", [By])}).

%% Refuses if another tracer traces a process or new processes.
refuse_tracers(Tracer) ->
    case [Pid || Pid <- [new | processes()], is_traced(Pid), not is_traced_by(Pid, Tracer)] of
        [] -> ok;
        [Pid | _] -> refuse_traced(io_lib:format("~p", [Pid]))
    end.

is_traced_by(Pid, Tracer) -> erlang:trace_info(Pid, tracer) =:= {tracer, Tracer}.

%% Another tracer may begin between the check and the setting. So everything is checked again after it was set. If
%% another is found, tracing ends, and only own flags and patterns are removed.
still_alone(#{session := none, tracer := Tracer, patterns := Patterns} = Tracing) ->
    try
        refuse_tracers(Tracer),
        lists:foreach(fun({Pattern, Kinds}) -> refuse_foreign(Pattern, Kinds, Tracer) end, Patterns)
    catch throw:Refused ->
        close_tracing(Tracing),
        throw(Refused)
    end;
still_alone(_) -> ok.

refuse_foreign(Pattern, [Kind], Tracer) ->
    case foreign(functions_of(Pattern), Kind, Tracer) of
        [] -> ok;
        [MFA | _] -> refuse_pattern(MFA)
    end.

%% The functions with a pattern of this kind by another tracer. Own match specifications for local calls contain this
%% module's name, and a meta trace has its tracer. Counters have no owner. But others who count in all modules also
%% count in this one, and rabbitscope never does.
foreign(Functions, local, _) -> [MFA || MFA <- Functions, is_foreign_spec(erlang:trace_info(MFA, match_spec))];
foreign(Functions, meta, Tracer) ->
    [MFA || MFA <- Functions, {meta, Other} <- [erlang:trace_info(MFA, meta)], is_pid(Other) orelse is_port(Other) orelse is_tuple(Other), Other =/= Tracer];
foreign(Functions, Kind, _) ->
    case is_patterned({?MODULE, start, 3}, Kind) of true -> Functions; false -> [] end.

is_foreign_spec({match_spec, [{_, _, [?MODULE | _]} | _]}) -> false;
is_foreign_spec({match_spec, Spec}) -> is_list(Spec);
is_foreign_spec(_) -> false.

%% Marks a match specification with this module's name, which has no effect as an action.
marked(Spec, [local]) when is_list(Spec) -> [{Head, Guards, [?MODULE | Body]} || {Head, Guards, Body} <- Spec];
marked(Spec, _) -> Spec.

%% Returns whether no other tracer traces garbage collections: the only sessions are this one and the node's default
%% session, which traces no process. The list of sessions has the second element of the session's handle.
traces_alone({_, Listed}) ->
    [] =:= apply(trace, session_info, [all]) -- [Listed, {legacy, default}]
        andalso not lists:any(fun is_traced/1, processes()).

is_traced(Pid) ->
    case erlang:trace_info(Pid, flags) of
        {flags, [_ | _]} -> true;
        _ -> false
    end.

%% Refuses if a function of the pattern has a trace pattern of another tracer.
refuse_patterned(#{session := none}, Pattern) ->
    Kinds = [traced, meta, call_count, call_time, call_memory],
    Foreign = [MFA || MFA <- functions_of(Pattern), lists:any(fun(Kind) -> is_patterned(MFA, Kind) end, Kinds)],
    case Foreign of
        [] -> ok;
        [MFA | _] -> refuse_pattern(MFA)
    end;
refuse_patterned(_, _) ->
    ok.

refuse_pattern({M, F, A}) ->
    throw({refused, traced_already, io_lib:format(
        "another tracer has set a trace pattern on ~tw:~tw/~b; rabbitscope leaves it alone", [M, F, A])}).

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

%% The loaded functions that match; refuses if there are none. Loads no module.
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

%% Sets a pattern, after announcing it to the keeper.
set_pattern(Pattern, Spec, Kinds, Tracing) ->
    known_crashes:pass_pattern(Spec, Kinds),
    set_passed(Pattern, Spec, Kinds, Tracing).

set_passed(Pattern, Spec, Kinds, #{session := none} = Tracing) ->
    Set = [{Pattern, Kinds} | maps:get(patterns, Tracing, [])],
    Now = Tracing#{patterns => Set},
    request:announce(maps:get(to, Tracing), maps:with([session, tracer, patterns, word], Now)),
    Spec =:= false orelse begin
        refuse_foreign(Pattern, Kinds, maps:get(tracer, Tracing)),
        erlang:trace_pattern(Pattern, marked(Spec, Kinds), with_tracer(Kinds))
    end,
    Now;
set_passed(Pattern, Spec, Kinds, #{session := Session} = Tracing) ->
    apply(trace, function, [Session, Pattern, Spec, Kinds]),
    Tracing.

with_tracer([meta]) -> [{meta, self()}];
with_tracer(Kinds) -> Kinds.

drop_pattern(Pattern, [Kind], #{session := none, tracer := Tracer}) ->
    catch drop_own(Pattern, Kind, Tracer);
drop_pattern(Pattern, Kinds, #{session := Session}) ->
    catch apply(trace, function, [Session, Pattern, false, Kinds]).

%% Removes a pattern from all its functions at once, unless another tracer has patterns there. One call for each of
%% the node's tens of thousands of functions would take long.
drop_own({'_', '_', '_'} = Wide, Kind, Tracer) ->
    case foreign(functions_of(Wide), Kind, Tracer) of
        [] -> erlang:trace_pattern(Wide, false, [Kind]);
        %% Not in this module: counters here belong to others, and reveal them, now and later.
        _ -> [drop_own({Module, '_', '_'}, Kind, Tracer) || {Module, _} <- code:all_loaded(), Module =/= ?MODULE]
    end;
drop_own(Pattern, Kind, Tracer) ->
    Functions = functions_of(Pattern),
    case foreign(Functions, Kind, Tracer) of
        [] -> erlang:trace_pattern(Pattern, false, [Kind]);
        Foreign -> [erlang:trace_pattern(MFA, false, [Kind]) || MFA <- Functions -- Foreign, has_pattern(MFA, Kind)]
    end.

has_pattern(MFA, local) -> is_patterned(MFA, match_spec);
has_pattern(MFA, Kind) -> is_patterned(MFA, Kind).

%% Replaces the specification of a pattern that is already set.
change_pattern(Pattern, Spec, Kinds, Tracing) ->
    known_crashes:pass_pattern(Spec, Kinds),
    change_passed(Pattern, Spec, Kinds, Tracing).

change_passed(Pattern, Spec, Kinds, #{session := none, tracer := Tracer}) ->
    refuse_foreign(Pattern, Kinds, Tracer),
    erlang:trace_pattern(Pattern, marked(Spec, Kinds), with_tracer(Kinds));
change_passed(Pattern, Spec, Kinds, #{session := Session}) ->
    apply(trace, function, [Session, Pattern, Spec, Kinds]).

pattern_info(MFA, Item, #{session := none}) -> erlang:trace_info(MFA, Item);
pattern_info(MFA, Item, #{session := Session}) -> apply(trace, info, [Session, MFA, Item]).

%% Takes the trace control word, a number of the node that match specifications read and set in place. Changing
%% patterns or flags instead would wait until no scheduler runs the function or the process. It is taken only if it
%% is unused.
take_word(#{to := To} = Tracing) ->
    case erlang:system_info(trace_control_word) of
        0 ->
            Taken = Tracing#{word => true},
            request:announce(To, maps:with([session, tracer, patterns, word], Taken)),
            Taken;
        _ -> Tracing#{word => false}
    end.

set_word(N, #{word := true}) -> erlang:system_flag(trace_control_word, N).

give_word_back(#{word := true} = Tracing) -> set_word(0, Tracing);
give_word_back(_) -> ok.

%% Sets or clears flags on one process. A process that has ended, or that another tracer traces now, is no error.
flag(Pid, On, Flags, Tracing) ->
    known_crashes:pass_flags(Pid),
    flag_passed(Pid, On, Flags, Tracing).

flag_passed(new_processes, true, Flags, #{session := none, tracer := Tracer}) ->
    %% Flags for new processes would replace those of another tracer.
    case is_traced(new) andalso not is_traced_by(new, Tracer) of
        true -> refuse_traced("new");
        false -> (catch erlang:trace(new_processes, true, [{tracer, Tracer} | Flags])) =:= 0
    end;
flag_passed(Pid, true, Flags, #{session := none, tracer := Tracer}) ->
    (catch erlang:trace(Pid, true, [{tracer, Tracer} | Flags])) =:= 1;
flag_passed(Pid, false, Flags, #{session := none, tracer := Tracer}) ->
    %% The node would clear the flags of any tracer.
    Info = if Pid =:= new_processes -> new; true -> Pid end,
    is_traced_by(Info, Tracer) andalso (catch erlang:trace(Pid, false, Flags)) =:= 1;
flag_passed(Pid, On, Flags, #{session := Session}) ->
    (catch apply(trace, process, [Session, Pid, On, Flags])) =:= 1.

%% The first step of clearing flags: no more events, but the tracer stays (`arity` alone makes no event). The rules
%% at the top say why.
quieten(Pid, Tracing) ->
    flag(Pid, false, loud_flags(), Tracing).

loud_flags() -> [call, return_to, running, exiting, garbage_collection, monotonic_timestamp].

%% Ends the tracing: patterns, then events, then tracers.
close_tracing(#{session := none, tracer := Tracer, to := To} = Tracing) ->
    give_word_back(Tracing),
    [drop_pattern(Pattern, Kinds, Tracing) || {Pattern, Kinds} <- maps:get(patterns, Tracing, [])],
    Mine = traced_by(Tracer),
    [quieten(Pid, Tracing) || Pid <- Mine],
    flag(new_processes, false, [all], Tracing),
    timer:sleep(2),
    [catch erlang:trace(Pid, false, [all]) || Pid <- traced_by(Tracer)],
    request:announce(To, #{session => none, tracer => Tracer, patterns => []}),
    catch ets:delete(rabbitscope_tracing);
close_tracing(#{session := Session} = Tracing) ->
    give_word_back(Tracing),
    catch apply(trace, session_destroy, [Session]).

%% Removes the leftovers of a worker that could not do so itself. Its tracer is dead; the node clears flags of a dead
%% tracer when they are read.
disarm(none) -> ok;
disarm(#{session := none, tracer := Tracer, patterns := Patterns} = Armed) ->
    give_word_back(Armed),
    [drop_pattern(Pattern, Kinds, Armed) || {Pattern, Kinds} <- Patterns],
    [catch erlang:trace(Pid, false, [all]) || Pid <- traced_by(Tracer)],
    flag(new_processes, false, [all], Armed),
    ok;
disarm(#{session := Session} = Armed) ->
    give_word_back(Armed),
    catch apply(trace, session_destroy, [Session]),
    ok.

%% All processes with flags of this tracing.
all_traced(#{session := none, tracer := Tracer}) -> traced_by(Tracer);
all_traced(#{session := Session}) ->
    [Pid || Pid <- processes(), {flags, [_ | _]} <- [catch apply(trace, info, [Session, Pid, flags])]].

traced_by(Tracer) ->
    [Pid || Pid <- processes(), is_traced_by(Pid, Tracer)].

%% ---- The rate of calls, before a function is traced ----

%% Calls per second of all matching functions, counted for `Ms` milliseconds. One pattern covers all of them, because
%% setting a pattern waits for every scheduler; reading a counter does not.
call_rate(_, [], _, Tracing) -> {0, Tracing};
call_rate(Args, Functions, Ms, Tracing) ->
    Armed = set_pattern(pattern_of(Args), true, [call_count], Tracing),
    maps:get(module, Args) =:= <<"_">> andalso leave_out_own(call_count, Armed),
    timer:sleep(Ms),
    {all_counted(Functions, Tracing) * 1000 div Ms, Armed}.

all_counted(Functions, Tracing) ->
    lists:sum([counted(MFA, Tracing) || MFA <- Functions]).

counted(MFA, Tracing) ->
    case pattern_info(MFA, call_count, Tracing) of
        {call_count, N} when is_integer(N) -> N;
        _ -> 0
    end.

%% Leaves this module out of a pattern for all modules.
leave_out_own(Kind, #{session := none}) -> erlang:trace_pattern({?MODULE, '_', '_'}, false, [Kind]);
leave_out_own(Kind, Tracing) -> drop_pattern({?MODULE, '_', '_'}, [Kind], Tracing).

pattern_of(#{module := M, function := F} = Args) ->
    case {existing_atom(M), existing_atom(F), maps:get(arity, Args, '_')} of
        {'_', _, _} = Pattern when Pattern =/= {'_', '_', '_'} -> not_a_pattern();
        {_, '_', Arity} when Arity =/= '_' -> not_a_pattern();
        Pattern -> Pattern
    end.

not_a_pattern() ->
    throw({refused, bad_pattern, "as a pattern, use _:_ (everything), module:_ (all its functions) or "
        "module:function (any number of arguments)"}).

existing_atom('_') -> '_';
existing_atom(Text) when is_atom(Text) -> Text;
existing_atom(Text) ->
    try binary_to_existing_atom(Text, utf8)
    catch error:badarg -> throw({refused, no_such_function, io_lib:format("the node has nothing named ~ts", [Text])})
    end.
