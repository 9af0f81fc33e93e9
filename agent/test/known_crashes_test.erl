%% The decisions of known_crashes.erl for any version, for the tests of crates/erlang.
-module(known_crashes_test).
-export([crash/2, flags/1, pattern/2]).

%% The refusal of an operation on this version of ERTS, `none` if it is allowed.
crash(What, Version) ->
    text(known_crashes:known_crash(What, known_crashes:erts_version(binary_to_list(Version)))).

%% The refusal on this node to set flags for these processes.
flags(Who) -> refusal(fun() -> known_crashes:pass_flags(Who) end).

%% The refusal on this node to set a trace pattern.
pattern(Spec, Kinds) -> refusal(fun() -> known_crashes:pass_pattern(Spec, Kinds) end).

refusal(Pass) ->
    try Pass()
    catch throw:{refused, known_crash, Line} -> text(Line)
    end.

text(none) -> none;
text(Line) -> unicode:characters_to_binary(Line).
