%% Values out of the property lists of a table whose rows are {Key, List}, such as channel_metrics.
%%
%% A list has many items. A match specification takes values out of the table's own lists, by their positions, so that
%% none is copied. Positions differ between releases and between rows: that of an idle channel begins with `idle_since`.
%% They are learned from the first rows.
-module(list_patterns).
-export([value_patterns/2]).

%% Patterns of a list with the values of these keys as '$2', '$3' …, for each form that the first rows have.
value_patterns(Table, Keys) ->
    Variables = [{Key, list_to_atom([$$ | integer_to_list(Number)])} || {Key, Number} <- lists:zip(Keys, lists:seq(2, length(Keys) + 1))],
    case ets:select(Table, [{{'_', '$1'}, [], ['$1']}], 20) of
        '$end_of_table' -> [];
        {Some, _} -> lists:usort([Pattern || Infos <- Some, Pattern <- [value_pattern(Infos, Variables, [])], Pattern =/= none])
    end.

%% `none` for a list that lacks a key.
value_pattern(_, [], Places) -> lists:foldl(fun (Place, Rest) -> [Place | Rest] end, '_', Places);
value_pattern([], _, _) -> none;
value_pattern([{Key, _} | Others], Variables, Places) ->
    case lists:keytake(Key, 1, Variables) of
        {value, Place, Rest} -> value_pattern(Others, Rest, [Place | Places]);
        false -> value_pattern(Others, Variables, ['_' | Places])
    end;
value_pattern([_ | Others], Variables, Places) -> value_pattern(Others, Variables, ['_' | Places]).
