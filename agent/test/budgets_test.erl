%% The decision of budgets.erl for given amounts of memory, for the tests of crates/erlang.
-module(budgets_test).
-export([stop/2]).

%% The budget that ends a request, for a growth of the node and a share of the request in mebibytes.
stop(Grown, Own) ->
    Budget = budgets:budget(#{args => #{}, agent => self()}, #{max_node_memory_bytes => 48 bsl 20}),
    budgets:memory_stop(Grown bsl 20, Own bsl 20, Budget).
