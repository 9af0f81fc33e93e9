<?php
// A client of PHP (php-amqplib) that publishes and consumes for a while and closes; all it needs is in the environment.
require_once 'PhpAmqpLib/autoload.php';

use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Exception\AMQPTimeoutException;
use PhpAmqpLib\Message\AMQPMessage;

$connect = fn() => new AMQPStreamConnection(getenv('HOST'), getenv('PORT'), getenv('USERNAME'), getenv('PASSWORD'));
[$taking, $giving] = [$connect(), $connect()];
[$queue, $confirms] = [getenv('QUEUE'), getenv('MODE') === 'confirms'];
$channel = $taking->channel();
$channel->queue_declare($queue, false, false, false, true);
$channel->basic_qos(0, 50, false);
$channel->basic_consume($queue, '', false, false, false, false, fn($message) => $message->ack());
$publisher = $giving->channel();
if ($confirms) {
    $publisher->confirm_select();
}
$end = microtime(true) + (float) getenv('SECONDS');
while (microtime(true) < $end) {
    $publisher->basic_publish(new AMQPMessage(str_repeat('x', (int) getenv('SIZE'))), '', $queue);
    if ($confirms) {
        $publisher->wait_for_pending_acks(5);
    }
    try {
        $channel->wait(null, false, (float) getenv('PAUSE'));
    } catch (AMQPTimeoutException $nothing) {
    }
}
$publisher->close();
$giving->close();
$channel->close();
$taking->close();
