// Reads lines of words separated by tabs, and prints what PerfTest's parser makes of each.

import com.rabbitmq.perf.PerfTest;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.TreeMap;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.CommandLineParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;

public class Parse {

  public static void main(String[] args) throws Exception {
    CommandLineParser parser = (CommandLineParser) hidden(PerfTest.class, "getParser", null);
    Options options = (Options) hidden(PerfTest.class, "getOptions", null);
    Class<?> metrics = Class.forName("com.rabbitmq.perf.CompositeMetrics");
    Constructor<?> constructor = metrics.getDeclaredConstructor();
    constructor.setAccessible(true);
    Options more = (Options) hidden(metrics, "options", constructor.newInstance());
    for (Option option : more.getOptions()) {
      options.addOption(option);
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(read(parser, options, line.split("\t", -1)));
    }
    out.flush();
  }

  private static String read(CommandLineParser parser, Options options, String[] words) {
    try {
      CommandLine line = parser.parse(options, words);
      TreeMap<String, String> found = new TreeMap<>();
      for (Option option : line.getOptions()) {
        String[] values = line.getOptionValues(option);
        found.put(option.getLongOpt(), values == null ? "" : String.join("\u0001", values));
      }
      StringBuilder text = new StringBuilder();
      found.forEach((name, values) -> text.append(name).append('=').append(values).append('\t'));
      return text + String.join("\u0001", line.getArgList());
    } catch (ParseException e) {
      return "refused";
    } catch (RuntimeException e) {
      return "refused";
    }
  }

  private static Object hidden(Class<?> owner, String name, Object object) throws Exception {
    Method method = owner.getDeclaredMethod(name);
    method.setAccessible(true);
    return method.invoke(object);
  }
}
