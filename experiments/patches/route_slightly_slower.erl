%% Like route_by_key.erl, with an unused computation before each message: a broker that is slower by a known time. A turn
%% has eight steps and uses one reduction, so the patch plants time, and hardly any reductions.
-module(rabbit_router).

-adds([destinations/3, spin/2]).

match_routing_key(Source, [Key]) ->
    spin(7, 0),
    %% No destination is below a number.
    Before = #binding{source = Source, key = Key, destination = 0, args = []},
    destinations(ets:next(rabbit_route, Before), Source, Key);
match_routing_key(Source, [_ | _] = Keys) ->
    lists:append([match_routing_key(Source, [Key]) || Key <- Keys]).

destinations(#binding{source = Source, key = Key, destination = Destination} = Found, Source, Key) ->
    [Destination | destinations(ets:next(rabbit_route, Found), Source, Key)];
destinations(_, _, _) ->
    [].

spin(0, Value) -> Value;
spin(Left, Value0) ->
    Value1 = (Value0 * 5 + 1) band 16#ffff,
    Value2 = (Value1 * 5 + 1) band 16#ffff,
    Value3 = (Value2 * 5 + 1) band 16#ffff,
    Value4 = (Value3 * 5 + 1) band 16#ffff,
    Value5 = (Value4 * 5 + 1) band 16#ffff,
    Value6 = (Value5 * 5 + 1) band 16#ffff,
    Value7 = (Value6 * 5 + 1) band 16#ffff,
    Value8 = (Value7 * 5 + 1) band 16#ffff,
    spin(Left - 1, Value8).
