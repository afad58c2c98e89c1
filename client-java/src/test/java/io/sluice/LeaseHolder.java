package io.sluice;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A process of its own that takes permits and holds them: {@code URI PROJECT COUNT}. Tells on its output, hears on its input. */
final class LeaseHolder {
    private LeaseHolder() {}

    public static void main(String[] args) throws IOException {
        try (Sluice sluice = Sluice.connect(args[0]);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            Project project = sluice.project(args[1]);
            List<Permit> permits = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(args[2]); i++) {
                Permit permit = Budget.take(project, Budget.CALL);
                permit.onLost(() -> System.out.println("lost"));
                permits.add(permit);
            }
            System.out.println("holding");
            while ("settle".equals(in.readLine())) {
                for (Permit permit : permits) {
                    System.out.println(permit.settle(new Usage(1, 0, 0, 0)).ended());
                }
            }
        }
    }
}
