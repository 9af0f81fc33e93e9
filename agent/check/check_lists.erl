%% Reads values of the property lists of a table, such as channel_metrics, for all its rows.
-module(check_lists).
-export([each_values/4]).

%% Calls Each(Key, Values, Acc) for each row, with `unknown` in place of a missing value. Rows of a form that the first
%% rows do not have are looked up.
each_values(Table, Keys, Each, Acc) ->
    Row = list_to_tuple(['$1' | [list_to_atom([$$ | integer_to_list(Number)]) || Number <- lists:seq(2, length(Keys) + 1)]]),
    Known = [{{'$1', Pattern}, [], [{Row}]} || Pattern <- list_patterns:value_patterns(Table, Keys)],
    check_base:each_paced(Table, Known ++ [{{'$1', '_'}, [], ['$1']}], fun
        (Found, In) when is_tuple(Found) -> Each(element(1, Found), tl(tuple_to_list(Found)), In);
        (Key, In) ->
            Infos = broker_tables:infos(Table, Key),
            Each(Key, [proplists:get_value(Other, Infos, unknown) || Other <- Keys], In)
    end, Acc).
