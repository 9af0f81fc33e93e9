%% Routes of a direct exchange by the key of the table instead of a match specification, which is compiled for each
%% message. For RabbitMQ 3.10 to 3.12, where rabbit_route is ordered by source, key, destination.
-module(rabbit_router).

-adds([destinations/3]).

match_routing_key(Source, [Key]) ->
    %% No destination is below a number.
    Before = #binding{source = Source, key = Key, destination = 0, args = []},
    destinations(ets:next(rabbit_route, Before), Source, Key);
match_routing_key(Source, [_ | _] = Keys) ->
    lists:append([match_routing_key(Source, [Key]) || Key <- Keys]).

destinations(#binding{source = Source, key = Key, destination = Destination} = Found, Source, Key) ->
    [Destination | destinations(ets:next(rabbit_route, Found), Source, Key)];
destinations(_, _, _) ->
    [].
