%% Parses a pattern of arguments, as a user typed it, into the head of a match specification.
-module(argument_patterns).
-export([head_of/1, may_match/3]).

%% `_` for all arguments, or terms with `_` in them, one for each argument: `_, {resource, _, _, <<"q">>}`.
head_of(#{match := Text}) ->
    Typed = lists:flatten(["[", unicode:characters_to_list(Text), "]."]),
    length(Typed) > 1000 andalso bad_pattern("it is too long"),
    case erl_scan:string(Typed) of
        {ok, Tokens, _} ->
            case erl_parse:parse_exprs(Tokens) of
                {ok, [Form]} -> head_term(Form);
                _ -> bad_pattern("it is no list of Erlang terms")
            end;
        _ -> bad_pattern("it is no list of Erlang terms")
    end;
head_of(_) -> '_'.

%% Refuses a pattern that fits no function: the request would wait in vain.
may_match('_', _, _) -> ok;
may_match(Head, {M, F, _}, Functions) ->
    lists:any(fun({_, _, Arity}) -> Arity =:= length(Head) end, Functions) orelse begin
        Arities = lists:join(" or ", [integer_to_list(Arity) || Arity <- lists:usort([A || {_, _, A} <- Functions])]),
        bad_pattern(io_lib:format("it is for ~b arguments, and ~tw:~tw has ~s", [length(Head), M, F, Arities]))
    end.

head_term({var, _, _}) -> '_';
head_term({Kind, _, Value}) when Kind =:= atom; Kind =:= integer; Kind =:= float; Kind =:= char; Kind =:= string -> Value;
head_term({tuple, _, Items}) -> list_to_tuple([head_term(Item) || Item <- Items]);
head_term({nil, _}) -> [];
head_term({cons, _, First, Rest}) -> [head_term(First) | head_term(Rest)];
head_term({op, _, '-', {integer, _, Value}}) -> -Value;
head_term({bin, _, Parts}) -> iolist_to_binary([binary_part_of(Part) || Part <- Parts]);
head_term({map, _, Pairs}) -> maps:from_list([head_pair(Pair) || Pair <- Pairs]);
head_term(_) -> bad_pattern("only terms and _ may stand in it").

head_pair({map_field_assoc, _, Key, Value}) -> {head_term(Key), head_term(Value)};
head_pair(_) -> bad_pattern("only terms and _ may stand in it").

binary_part_of({bin_element, _, {string, _, Text}, default, default}) -> Text;
binary_part_of({bin_element, _, {integer, _, Byte}, default, default}) when Byte < 256 -> Byte;
binary_part_of(_) -> bad_pattern("only terms and _ may stand in it").

bad_pattern(Why) ->
    throw({refused, bad_pattern, ["cannot read the pattern of arguments: ", Why]}).
