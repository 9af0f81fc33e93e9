%% The keys with the highest values in each of several orders.
-module(check_best).
-export([better/5, chosen/1]).

%% Adds a key to an order of at most `Limit` keys. A value of 0 or less is not interesting.
better(Order, Value, Key, Limit, Bests) when is_number(Value), Value > 0 ->
    Set = maps:get(Order, Bests, gb_sets:empty()),
    case gb_sets:size(Set) < Limit of
        true -> Bests#{Order => gb_sets:add_element({Value, Key}, Set)};
        false ->
            case gb_sets:smallest(Set) < {Value, Key} of
                true -> Bests#{Order => gb_sets:add_element({Value, Key}, gb_sets:delete(gb_sets:smallest(Set), Set))};
                false -> Bests
            end
    end;
better(_, _, _, _, Bests) -> Bests.

%% The keys of all orders.
chosen(Bests) -> lists:usort([Key || Set <- maps:values(Bests), {_, Key} <- gb_sets:to_list(Set)]).
