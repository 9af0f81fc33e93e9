Name = fun(Node) when is_atom(Node), Node =/= none, Node =/= undefined -> atom_to_binary(Node, utf8);
          (_) -> null end,
Names = fun(Nodes) when is_list(Nodes) ->
               lists:usort([Name(case is_pid(It) of true -> node(It); false -> It end) || It <- Nodes]) -- [null];
           (_) -> [] end,
Info = fun(Queue, Key) ->
              try proplists:get_value(Key, rabbit_amqqueue:info(Queue, [Key])) catch _:_ -> undefined end end,
Up = fun(Nodes) -> [It || It <- Nodes, lists:member(It, [Name(node()) | Names(nodes())])] end,
Classic = fun(Queue) ->
                 Pid = amqqueue:get_pid(Queue),
                 Own = case is_pid(Pid) of true -> Name(node(Pid)); false -> null end,
                 Mirrors = Names(Info(Queue, slave_pids)),
                 Members = lists:usort([Own | Mirrors]) -- [null],
                 Leads = case Up([Own]) of [Own] -> Own; _ -> null end,
                 #{leader => Leads, members => Members, online => Up(Members)} end,
Replicated = fun(Queue) ->
                    #{leader => case Up([Name(Info(Queue, leader))]) of [Leader] -> Leader; _ -> null end,
                      members => Names(Info(Queue, members)),
                      online => Names(Info(Queue, online))} end,
Fact = fun(Queue) ->
              {resource, _, queue, Title} = amqqueue:get_name(Queue),
              {Type, More} = case amqqueue:get_type(Queue) of
                  rabbit_quorum_queue -> {<<"quorum">>, Replicated(Queue)};
                  rabbit_stream_queue -> {<<"stream">>, Replicated(Queue)};
                  rabbit_classic_queue -> {<<"classic">>, Classic(Queue)};
                  Other -> {Name(Other), Classic(Queue)} end,
              More#{name => Title, type => Type} end,
Sorted = lists:sort(fun(One, Other) -> amqqueue:get_name(One) =< amqqueue:get_name(Other) end, rabbit_amqqueue:list()),
Shown = lists:sublist(Sorted, @MOST@),
ok = file:write_file("@FILE@", rabbit_json:encode(#{queues => [Fact(Queue) || Queue <- Shown],
                                                    count => length(Sorted)}))
