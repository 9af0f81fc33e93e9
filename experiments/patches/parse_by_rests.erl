%% Reads the sections of a message one by one and makes a binary of each rest, as before RabbitMQ 3.10: parse_all/1 of
%% later releases goes through the message with one match context.
-module(amqp10_binary_parser).

parse_all(<<>>) ->
    [];
parse_all(Sections) ->
    {Section, Rest} = parse(Sections),
    [Section | parse_all(Rest)].
