package com.example;

import java.util.HashMap;
import java.util.Map;

/** Counts words: what the builds of this example keep within a budget. */
public final class Words {
    private Words() {}

    public static Map<String, Integer> count(String text) {
        Map<String, Integer> counts = new HashMap<>();
        for (String word : text.split(" ")) counts.merge(word, 1, Integer::sum);
        return counts;
    }
}
