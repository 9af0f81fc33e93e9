%% Figures that are read one by one, so that one that this release does not have takes no other with it.
-module(check_parts).
-export([known_parts/1, attempted/1]).

known_parts(Parts) -> maps:from_list([{Name, Value} || {Name, Read} <- Parts, Value <- [attempted(Read)], Value =/= unknown]).

attempted(Read) -> try Read() of undefined -> unknown; Value -> Value catch _:_ -> unknown end.
